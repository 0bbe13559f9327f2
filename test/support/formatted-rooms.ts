import type { TestContext } from 'vitest'
import * as Y from 'yjs'
import type { Config } from '../../src/server.ts'
import { MemoryStorage } from '../../src/storage/memory-storage.ts'
import { contentOf } from './big-board.ts'
import { type FormattedBoardOptions, formattedBoard, seen } from './formatted-board.ts'
import { startServer, type TestServer } from './start-server.ts'
import { type StockClient, stockClient } from './stock-client.ts'

/** 800 KB: 900 notes by four authors, each written anew later on. */
export const NOTES: Omit<FormattedBoardOptions, 'seed'> = { notes: 900, authors: 4, retyped: 1, words: 150 }

export interface StoredBoard {
  readonly bytes: number
  readonly content: ReturnType<typeof contentOf>
  readonly seen: string
}

/** A server whose store has these boards, room `0`, `1` … */
export async function serverWithBoards(
  t: Pick<TestContext, 'onTestFinished'>,
  boards: readonly FormattedBoardOptions[],
  config: Partial<Config> = {},
): Promise<{ server: TestServer; stored: StoredBoard[] }> {
  const storage = new MemoryStorage({ durable: true })
  const stored: StoredBoard[] = []
  for (const [room, options] of boards.entries()) {
    const board = formattedBoard(options)
    const update = Y.encodeStateAsUpdate(board)
    await storage.append(String(room), [update])
    stored.push({ bytes: update.length, content: contentOf(board), seen: seen(board) })
  }
  const server = await startServer(t, config, undefined, { openStorage: async () => storage })
  return { server, stored }
}

/** A stock client with its texts open, and the updates of its own that it sends. */
export interface OpenJoiner extends StockClient {
  readonly own: readonly Uint8Array[]
}

export function openJoiner(t: Pick<TestContext, 'onTestFinished'>, server: TestServer, room: string): OpenJoiner {
  const doc = new Y.Doc()
  doc.getMap('shapes')
  const own: Uint8Array[] = []
  doc.on('update', (update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
    if (transaction.local) own.push(update)
  })
  return { ...stockClient(t, server.url, room, { doc }), own }
}
