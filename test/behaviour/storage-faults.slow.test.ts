import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { sameBoard } from '../support/boards.ts'
import { startServerProcess } from '../support/process.ts'
import { rawMember } from '../support/raw-client.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

/** A file system of 4 MB, or the test is skipped and says so. */
function tinyDisk(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'y-weir-tiny-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    rmdirSync(path)
    if (process.env.CI) throw error
    t.skip('a tmpfs can only be mounted as root')
  }
  t.onTestFinished(() => {
    execFileSync('umount', [path])
    rmdirSync(path)
  })
  return path
}

/** Leaves `bytes` free, about; gives back how to free the rest. */
function fill(disk: string, bytes: number): () => void {
  const path = join(disk, 'filler')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
  return () => rmSync(path)
}

test('[ST6] [ST2] the disk fills up under a busy server: red with the reason, everything kept, green by itself', async (t) => {
  const disk = tinyDisk(t)
  const env = { STORAGE: 'lmdb', DATA_DIR: disk, ROOM_IDLE_MS: '0' }
  const server = await startServerProcess(t, env)
  const readiness = async (): Promise<readonly [number, string]> => {
    const response = await fetch(`${server.httpUrl}/readyz`)
    return [response.status, await response.text()]
  }
  const author = stockClient(t, server.url, 'board')
  const onlooker = stockClient(t, server.url, 'board')
  await Promise.all([author.synced(), onlooker.synced()])
  author.doc.getMap('m').set('early', 1)
  await until(async () => (await server.metric('storage_commits_total')) > 0, 'the board is stored')
  const free = fill(disk, 300_000)

  let edits = 0
  await until(async () => {
    author.doc.getMap('m').set(`k${edits++}`, 'x'.repeat(20_000))
    return (await readiness())[0] === 503
  }, 'the disk is full')
  expect((await readiness())[1]).toContain('boards cannot be saved: the disk is full')
  // Boards that were never stored fare no worse.
  const elsewhere = await rawMember(t, server.port, 'another')
  elsewhere.doc.getMap('m').set('new', 1)
  for (let i = 0; i < 20; i++) author.doc.getMap('later').set(`k${i}`, i)
  await until(() => onlooker.doc.getMap('later').size === 20, 'people go on')
  const failures = await server.metric('storage_failures_total')
  await until(async () => (await server.metric('storage_failures_total')) > failures + 2, 'it tries again and again')
  expect(await server.metric('storage_unsaved_bytes')).toBeGreaterThan(0)
  const { doc } = author
  author.provider.destroy()
  onlooker.provider.destroy()
  elsewhere.close()
  await until(async () => (await server.metric('ws_active_sockets')) === 0, 'all have left')
  // The other board is small, and may have found a free page.
  expect(await server.metric('rooms_active')).toBeGreaterThan(0)
  expect(await server.metric('storage_unsaved_bytes')).toBeGreaterThan(0)

  free()
  await until(async () => (await readiness())[0] === 200, 'readiness is green again', 30_000)
  await until(async () => (await server.metric('rooms_active')) === 0, 'the rooms leave memory')
  expect(await server.metric('storage_unsaved_bytes')).toBe(0)
  await server.kill()
  const again = await startServerProcess(t, env)
  const back = await rawMember(t, again.port, 'board')
  expect(sameBoard(back.doc, doc)).toBe(true)
  expect((await rawMember(t, again.port, 'another')).doc.getMap('m').get('new')).toBe(1)
})

test('[ST2] [ST6] killed while the disk is full, the server starts and serves; told to stop, it ends in time and says what is lost', async (t) => {
  const disk = tinyDisk(t)
  const env = { STORAGE: 'lmdb', DATA_DIR: disk, SHUTDOWN_GRACE_MS: '2000' }
  const first = await startServerProcess(t, env)
  const author = await rawMember(t, first.port, 'board', { record: false })
  author.doc.getMap('m').set('early', 1)
  await until(async () => (await first.metric('storage_commits_total')) > 0, 'it is stored')
  fill(disk, 4_096)
  for (let i = 0; i < 20; i++) author.doc.getMap('m').set(`k${i}`, 'x'.repeat(20_000))
  await until(async () => (await fetch(`${first.httpUrl}/readyz`)).status === 503, 'the disk is full')
  await first.kill()

  const second = await startServerProcess(t, env)
  const back = await rawMember(t, second.port, 'board', { record: false })
  expect(back.doc.getMap('m').get('early')).toBe(1)
  // Who still has the rest brings it back.
  const returned = await rawMember(t, second.port, 'board', { record: false, doc: author.doc })
  await until(() => sameBoard(back.doc, returned.doc), 'the board is whole again')
  await until(async () => (await fetch(`${second.httpUrl}/readyz`)).status === 503, 'and cannot be saved')
  const began = performance.now()
  second.child.kill('SIGTERM')
  expect(await second.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - began).toBeLessThan(3_000)
  expect(second.output()).toContain('some boards could not be saved in time')
})
