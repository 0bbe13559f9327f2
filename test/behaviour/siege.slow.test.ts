import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import type { HonestReport } from '../support/honest-room.ts'
import { type ServerProcess, startServerProcess } from '../support/process.ts'

const SECONDS = Number(process.env.SIEGE_SECONDS ?? 120)
const PEOPLE = 20
const ROOM = 'honest'

interface Crowd {
  ask(what: 'report' | 'rest'): Promise<HonestReport>
}

/** People who draw, in a process of their own: what the test does beside them is not taken for the server's delay. */
async function honestPeople(t: TestContext, server: ServerProcess): Promise<Crowd> {
  const args = ['--import', 'tsx', 'test/support/honest-room.ts', String(server.port), ROOM, String(PEOPLE)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return {
    ask: async (what) => {
      child.stdin.write(`${what}\n`)
      return JSON.parse((await lines.next()).value as string) as HonestReport
    },
  }
}

async function attack(t: TestContext, server: ServerProcess): Promise<string> {
  const args = ['--import', 'tsx', 'test/support/attackers.ts', String(server.port), ROOM, String(SECONDS)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await once(child, 'close')
  return output
}

// Ten things that each broke an early version, all at once, by whoever has read the source; twenty people in a room beside them.
test(`[LT1] [MM1] [SP1] [RB1] twenty people draw for ${SECONDS} s beside ten attackers: nobody is closed, nobody waits, all boards are equal`, {
  timeout: (SECONDS + 120) * 1000,
}, async (t) => {
  const server = await startServerProcess(t, {
    STORAGE: 'lmdb',
    DATA_DIR: dataDirectory(t),
    MAX_MEMORY_BYTES: String(600 << 20),
  })
  const people = await honestPeople(t, server)
  await sleep(5000)
  const alone = await people.ask('report')
  const attackers = await attack(t, server)
  const beside = await people.ask('report')
  const after = await people.ask('rest')
  console.log(JSON.stringify({ alone, beside, after }), attackers)

  expect(beside.edits).toBeGreaterThan(PEOPLE * (PEOPLE - 1) * 5 * SECONDS)
  expect(after.reconnects).toBe(0)
  expect(after.equal).toBe(true)
  // 150 ms are wanted, and 125 measured on two cores that do nothing else; here others share them.
  expect(beside.p99).toBeLessThan(400)
  expect((await fetch(`${server.httpUrl}/healthz`)).status).toBe(200)
  // All of it was noticed.
  expect(await server.metric('ws_rate_limit_exceeded_total')).toBeGreaterThan(0)
})
