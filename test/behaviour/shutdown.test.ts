import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { startFaultyServer } from '../support/faulty-storage.ts'
import { startServerProcess } from '../support/process.ts'
import { rawMember } from '../support/raw-client.ts'
import { stalledReader } from '../support/stalled-reader.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const GRACE_MS = 4_000

function environment(t: TestContext): Record<string, string> {
  return { STORAGE: 'lmdb', DATA_DIR: dataDirectory(t), SHUTDOWN_GRACE_MS: String(GRACE_MS) }
}

/** What a fresh client finds on a server that was started again. */
async function foundAgain(t: TestContext, env: Record<string, string>): Promise<number> {
  const server = await startServerProcess(t, env)
  const { doc } = await rawMember(t, server.port, 'board')
  server.child.kill('SIGTERM')
  expect(await server.exited).toEqual({ code: 0, signal: null })
  return doc.getArray('items').length
}

for (const signals of [1, 2]) {
  test(`[OP1] SIGTERM 5 ms after the last of 100 edits, ${signals === 1 ? 'once' : 'twice in a row'}: all 100 are stored`, async (t) => {
    const env = environment(t)
    const server = await startServerProcess(t, env)
    const author = stockClient(t, server.url, 'board')
    await author.synced()
    for (let i = 0; i < 100; i++) author.doc.getArray('items').push([i])
    await sleep(5)
    const began = performance.now()
    for (let i = 0; i < signals; i++) server.child.kill('SIGTERM')
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(performance.now() - began).toBeLessThan(GRACE_MS)
    expect(server.output()).not.toContain('could not be saved')
    author.provider.destroy()
    expect(await foundAgain(t, env)).toBe(100)
    // Stopping a server that did nothing but read changes nothing.
    expect(await foundAgain(t, env)).toBe(100)
  })
}

test('[OP1] SIGTERM with zero rooms ends at once', async (t) => {
  const server = await startServerProcess(t, environment(t))
  const began = performance.now()
  server.child.kill('SIGTERM')
  expect(await server.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - began).toBeLessThan(GRACE_MS / 2)
})

test('[OP1] [FC2] SIGTERM with a reader that has stalled: in time, and all 100 edits are stored', async (t) => {
  const env = environment(t)
  // Patient with slow readers, so that only the deadline can cut this one.
  const patience = { WS_CLOSE_GRACE_MS: '60000', WS_MAX_CONGESTED_MS: '0' }
  const server = await startServerProcess(t, { ...env, ...patience, SHUTDOWN_GRACE_MS: '2000' })
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  await stalledReader(t, server, author, 100, 90_000)
  const began = performance.now()
  server.child.kill('SIGTERM')
  expect(await server.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - began).toBeLessThan(5_000)
  author.provider.destroy()
  expect(await foundAgain(t, env)).toBe(100)
})

test('[OP1] a disk that takes a second for every write: close() waits, and all 100 edits are stored', async (t) => {
  const dataDir = dataDirectory(t)
  const server = await startFaultyServer(t, { dataDir, shutdownGraceMs: GRACE_MS })
  server.storage.writeDelayMs = 1_000
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  for (let i = 0; i < 100; i++) author.doc.getArray('items').push([i])
  await until(() => server.storage.asked.append > 0, 'the first of them are being written')
  author.doc.getArray('items').push(['the last'])
  const began = performance.now()
  await server.close()
  expect(performance.now() - began).toBeLessThan(GRACE_MS)
  author.provider.destroy()
  expect(await foundAgain(t, { STORAGE: 'lmdb', DATA_DIR: dataDir })).toBe(101)
})
