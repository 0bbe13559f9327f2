import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { TestContext } from 'vitest'

/**
 * A helper as a process of its own (`busy-rooms.ts`, `flood-clients.ts`), once it has said its first line; gives back how to ask
 * it for its next report.
 */
export async function reporter<Report>(
  t: Pick<TestContext, 'onTestFinished'>,
  file: string,
  ...args: number[]
): Promise<() => Promise<Report>> {
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return async () => {
    child.stdin.write('\n')
    return JSON.parse((await lines.next()).value as string) as Report
  }
}
