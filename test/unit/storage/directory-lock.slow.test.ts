import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const HOLDER = fileURLToPath(new URL('../../support/lock-holder.ts', import.meta.url))

/** The holder as process 1 of a container of its own that shares the directory. */
async function contained(path: string): Promise<{ child: ChildProcess; said: string }> {
  const args = ['--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, '--import', 'tsx', HOLDER, path]
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, said: said.toString().trim() }
}

test('[ST8] containers that share a volume exclude each other, also when both are process 1', async (context) => {
  try {
    execFileSync('unshare', ['--pid', '--fork', '--mount-proc', 'true'], { stdio: 'pipe' })
  } catch (error) {
    if (process.env.CI) throw error
    context.skip('process namespaces can only be made as root')
  }
  const path = mkdtempSync(join(tmpdir(), 'y-weir-lock-'))
  const children: ChildProcess[] = []
  try {
    const first = await contained(path)
    children.push(first.child)
    expect(first.said).toBe('locked')
    const second = await contained(path)
    children.push(second.child)
    expect(second.said).toContain('in use by another process')
    first.child.kill('SIGKILL')
    await once(first.child, 'close')
    const third = await contained(path)
    children.push(third.child)
    expect(third.said).toBe('locked')
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(path, { recursive: true, force: true })
  }
}, 180_000)
