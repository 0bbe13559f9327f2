import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'
import { bigBoard } from '../support/big-board.ts'
import { sameBoard } from '../support/boards.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { delayingProxy } from '../support/delaying-proxy.ts'
import { freePort } from '../support/free-port.ts'
import { startServerProcess } from '../support/process.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const BOARD_BYTES = 8_000_000
/** Points of the element when it is at its longest: some 18 KB. */
const MOST_POINTS = 1_800

test('[IN4] who draws one growing element 60 times a second goes on through a kill and a restart on an 8 MB board', {
  timeout: 120_000,
}, async (t) => {
  const directory = dataDirectory(t)
  const storage = await LmdbStorage.open({ directory, clock: systemClock, commitIntervalMs: 0 })
  const stored = Y.encodeStateAsUpdate(bigBoard(BOARD_BYTES))
  expect(stored.length).toBeGreaterThan(0.7 * BOARD_BYTES)
  await storage.append('board', [stored])
  await storage.close()

  const env = { PORT: String(await freePort()), STORAGE: 'lmdb', DATA_DIR: directory }
  const server = await startServerProcess(t, env)
  const proxy = await delayingProxy(t, server.port, 40)
  const author = stockClient(t, `ws://127.0.0.1:${proxy}`, 'board')
  const closes: number[] = []
  author.provider.on('connection-close', (event: { code: number } | null) => void closes.push(event?.code ?? 0))
  await until(() => author.provider.synced, 'the board is there', 30_000)

  const elements = author.doc.getMap<{ points: readonly string[] }>('elements')
  let points: string[] = []
  let sets = 0
  const draw = (): void => {
    if (points.length >= MOST_POINTS) points = []
    for (let i = 0; i < 30; i++) points.push(`${1_000 + (sets * 7 + i) * 13}`.slice(-7).padStart(7, '0'))
    elements.set('stroke', { points: [...points] })
    sets++
  }
  let drawing = setInterval(draw, 1000 / 60)
  t.onTestFinished(() => clearInterval(drawing))
  await sleep(4_000)
  await server.kill()
  await until(() => !author.provider.wsconnected, 'it is offline')
  const again = await startServerProcess(t, env)
  await until(() => author.provider.synced, 'it is back', 30_000)
  const before = sets
  await sleep(6_000)
  clearInterval(drawing)
  expect(sets - before).toBeGreaterThan(60)

  const fresh = stockClient(t, again.url, 'board')
  await until(() => fresh.provider.synced && sameBoard(fresh.doc, author.doc), 'all of it arrives', 30_000)
  if (process.env.TEST_FIGURES) console.log({ sets, closes, bytes: stored.length })
  // No close but that of the server that died, and of tries while there was none.
  expect(closes.filter((code) => code >= 4000)).toEqual([])
  for (const reason of ['gap_overflow', 'gap_repeated']) {
    expect(await again.metric(`ws_message_errors_total{reason="${reason}"}`)).toBe(0)
  }
  const connections = author.connections()
  drawing = setInterval(draw, 1000 / 60)
  await sleep(500)
  clearInterval(drawing)
  await until(() => sameBoard(fresh.doc, author.doc), 'and goes on to', 20_000)
  expect(author.connections()).toBe(connections)
})
