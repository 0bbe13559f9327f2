import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { dataDirectory } from '../support/data-directory.ts'
import { programOf, startServerProcess } from '../support/process.ts'
import { rawMember } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

interface Outcome {
  readonly code: number
  readonly out: Buffer
  readonly err: string
}

/** `npm run boards -- <args>`, without the build. */
function boards(directory: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, DATA_DIR: directory }, encoding: 'buffer', maxBuffer: 64 << 20 } as const
    const command = [...programOf('src/boards.ts'), ...args]
    const child = execFile(process.execPath, command, options, (_error, out, err) => {
      resolve({ code: child.exitCode ?? -1, out, err: err.toString() })
    })
  })
}
function boardIn(update: Uint8Array): Y.Doc {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, update)
  return doc
}

test('[ST8] beside a busy server boards can be looked at, and nothing that writes gets in', async (t) => {
  const directory = dataDirectory(t)
  const server = await startServerProcess(t, { STORAGE: 'lmdb', DATA_DIR: directory })
  const author = await rawMember(t, server.port, 'a/b')
  const onlooker = await rawMember(t, server.port, 'a/b')
  for (let i = 0; i < 20; i++) author.doc.getMap('m').set(`k${i}`, i)
  await until(() => onlooker.doc.getMap('m').size === 20, 'all is on the board')
  await until(async () => (await server.metric('storage_unsaved_bytes')) === 0, 'and saved')
  const file = join(directory, 'other.bin')
  const other = new Y.Doc()
  other.getMap('m').set('imported', 1)
  writeFileSync(file, Y.encodeStateAsUpdate(other))

  // The board changes all the while.
  let edits = 0
  const drawing = setInterval(() => author.doc.getMap('during').set(`k${edits}`, edits++), 20)
  t.onTestFinished(() => clearInterval(drawing))
  const [list, exported, verified, backup] = await Promise.all([
    boards(directory, 'list'),
    boards(directory, 'export', 'a/b'),
    boards(directory, 'verify'),
    boards(directory, 'backup', join(directory, 'copy')),
  ])
  for (const { code, err } of [list, exported, verified, backup]) expect(code, err).toBe(0)
  expect(list.out.toString()).toMatch(/^bytes\trecords\ttail\troom\n\d+\t\d+\t\d+\ta\/b\n$/)
  expect(boardIn(exported.out).getMap('m').toJSON()).toEqual(author.doc.getMap('m').toJSON())
  expect(verified.err).toContain('0 with something wrong')

  const refused = await Promise.all([
    boards(directory, 'import', 'new', file),
    boards(directory, 'import', 'a/b', file, '--merge'),
    boards(directory, 'delete', 'a/b'),
    boards(directory, 'compact'),
  ])
  for (const { code, err } of refused) {
    expect(code).toBe(1)
    expect(err).toContain(`in use by another process: process ${server.child.pid}`)
  }
  clearInterval(drawing)
  expect(edits).toBeGreaterThan(10)
  await until(() => onlooker.doc.getMap('during').size === edits, 'the server took no notice')
  expect([author.isOver, onlooker.isOver]).toEqual([false, false])
  expect(onlooker.doc.getMap('m').has('imported')).toBe(false)
  server.child.kill('SIGTERM')
  expect(await server.exited).toEqual({ code: 0, signal: null })

  // Without a server they do, and the next server serves what they left.
  expect((await boards(directory, 'import', 'a/b', file, '--merge')).code).toBe(0)
  const compacted = await boards(directory, 'compact')
  expect([compacted.code, compacted.err]).toEqual([0, expect.stringContaining('1 of 1 boards compacted')])
  const copied = await boards(join(directory, 'copy'), 'export', 'a/b')
  expect(boardIn(copied.out).getMap('m').size).toBe(20)
  const again = await startServerProcess(t, { STORAGE: 'lmdb', DATA_DIR: directory })
  const { doc } = await rawMember(t, again.port, 'a/b')
  expect([doc.getMap('m').size, doc.getMap('m').get('imported'), doc.getMap('during').size]).toEqual([21, 1, edits])
}, 60_000)
