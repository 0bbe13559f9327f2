import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import { lockDirectory } from '../../../src/storage/directory-lock.ts'

const HOLDER = fileURLToPath(new URL('../../support/lock-holder.ts', import.meta.url))
vi.setConfig({ testTimeout: 60_000 })
const undo: (() => void)[] = []
afterEach(() => {
  for (const step of undo.splice(0).reverse()) step()
})

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'y-weir-lock-'))
  undo.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A process that locks the directory and keeps it; what it says about that. */
async function holder(path: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', HOLDER, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  undo.push(() => child.kill('SIGKILL'))
  const [said] = (await once(child.stdout!, 'data')) as [Buffer]
  return { child, said: said.toString().trim() }
}

test('[ST8] a second process is refused, by the name of the first; a kill of the first frees the directory', async () => {
  const path = directory()
  const { child, said } = await holder(path)
  expect(said).toBe('locked')
  await expect(lockDirectory(path)).rejects.toThrow(`in use by another process: process ${child.pid}`)
  child.kill('SIGKILL')
  await once(child, 'close')
  const lock = await lockDirectory(path)
  await lock.release()
})

test('[ST8] of processes that start together at most one gets the directory', async () => {
  const path = directory()
  const said = (await Promise.all([holder(path), holder(path), holder(path)])).map((one) => one.said)
  expect(said.filter((word) => word === 'locked')).toHaveLength(1)
})

test('[ST8] the same directory under another name is the same directory', async () => {
  const path = directory()
  const alias = `${path}-alias`
  symlinkSync(path, alias)
  undo.push(() => rmSync(alias))
  const lock = await lockDirectory(path)
  await expect(lockDirectory(alias)).rejects.toThrow('in use by this process')
  const other = await holder(alias)
  expect(other.said).toContain(`process ${process.pid}`)
  await lock.release()
  await lock.release()
  await (await lockDirectory(alias)).release()
})
