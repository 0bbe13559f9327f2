/**
 * A client behind a thin link: a network namespace of the test's own, joined to this one by a veth pair whose rate `tc`
 * bounds. Needs root and iproute2; traffic never leaves the machine.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'vitest'

export interface ThinLink {
  /** The address on which a server in this namespace is reached from the other. */
  readonly serverAddress: string
  /** Runs a client script in the namespace; its stdout is one JSON value a line. */
  run(script: string, args: readonly string[]): ThinClient
}

export interface ThinClient {
  /** What the script has said so far. */
  readonly said: Record<string, unknown>[]
  readonly process: ChildProcess
  /** Says a line to the script's stdin. */
  tell(line: string): void
}

const ip = (...args: string[]): void => {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

let count = 0

/** Whether namespaces can be made here. In CI they must be. */
export function canMakeNamespaces(): boolean {
  const name = `yweir-try-${process.pid}`
  try {
    ip('netns', 'add', name)
    ip('netns', 'del', name)
    return true
  } catch (error) {
    if (process.env.CI) throw new Error(`network namespaces are needed here: ${String(error)}`)
    console.warn('skipped: network namespaces need root and iproute2')
    return false
  }
}

/** `rate` as `tc` writes it, e.g. `1mbit`, from server to client. Taken down when the test is over. */
export function thinLink(t: Pick<TestContext, 'onTestFinished'>, rate: string): ThinLink {
  const id = `${process.pid % 10_000}${count++}`
  const [namespace, here, there] = [`yweir-${id}`, `yw${id}a`, `yw${id}b`]
  const net = `10.${200 + (process.pid % 50)}.${count % 250}`
  const children: ChildProcess[] = []
  t.onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL')
    for (const args of [
      ['link', 'del', here],
      ['netns', 'del', namespace],
    ]) {
      try {
        ip(...args)
      } catch {
        // The link goes with the namespace, or was never made.
      }
    }
  })
  ip('netns', 'add', namespace)
  ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there)
  ip('link', 'set', there, 'netns', namespace)
  ip('addr', 'add', `${net}.1/24`, 'dev', here)
  ip('link', 'set', here, 'up')
  ip('-n', namespace, 'addr', 'add', `${net}.2/24`, 'dev', there)
  ip('-n', namespace, 'link', 'set', there, 'up')
  ip('-n', namespace, 'link', 'set', 'lo', 'up')
  execFileSync('tc', ['qdisc', 'add', 'dev', here, 'root', 'tbf', 'rate', rate, 'burst', '16kb', 'latency', '200ms'])

  return {
    serverAddress: `${net}.1`,
    run: (script, args) => {
      const path = join(import.meta.dirname, script)
      const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, '--import', 'tsx', path, ...args], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      children.push(child)
      const said: Record<string, unknown>[] = []
      createInterface({ input: child.stdout! }).on('line', (line) => said.push(JSON.parse(line)))
      return { said, process: child, tell: (line) => child.stdin?.write(`${line}\n`) }
    },
  }
}
