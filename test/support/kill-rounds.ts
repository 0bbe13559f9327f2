/** Kills a process that writes to a store, at random moments, and looks at what is left (ST1, ST2, ST3). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'

const WRITER = fileURLToPath(new URL('store-writer.ts', import.meta.url))

/** Every third round starts with no store and is killed while it is made; the others go on with what the last left. */
export async function killRounds(rounds: number): Promise<void> {
  const parent = mkdtempSync(join(tmpdir(), 'y-weir-kill-'))
  try {
    let directory = ''
    for (let round = 0; round < rounds; round++) {
      const anew = round % 3 === 0
      if (anew) directory = join(parent, String(round))
      const durable = await writeUntilKilled(directory, anew ? Math.random() * 20 : Math.random() * 400)
      await check(directory, durable, `round ${round}`)
    }
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

/** Kills `ms` after the store was opened. What was said durable, per room. */
async function writeUntilKilled(directory: string, ms: number): Promise<Map<string, number>> {
  const child = spawn(process.execPath, ['--import', 'tsx', WRITER, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  const closed = once(child, 'close')
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      said += text.toString()
      if (said.startsWith('open\n')) resolve()
    })
    closed.then(() => reject(new Error('the writer ended by itself')), reject)
  })
  await sleep(ms)
  child.kill('SIGKILL')
  await closed
  const durable = new Map<string, number>()
  for (const line of said.split('\n').slice(1, -1)) {
    const [room, n] = line.split(' ')
    durable.set(room!, Math.max(durable.get(room!) ?? 0, Number(n)))
  }
  return durable
}

async function check(directory: string, durable: Map<string, number>, round: string): Promise<void> {
  const storage = await LmdbStorage.open({ directory, clock: systemClock })
  for (const [room, last] of durable) {
    const numbers: number[] = []
    for await (const { update } of storage.load(room)) {
      numbers.push(...(JSON.parse(Buffer.from(update).toString()) as number[]))
    }
    expect(numbers, `${round}, room ${room}: each number once, in order`).toEqual(numbers.map((_, i) => i + 1))
    expect(numbers.length, `${round}, room ${room}: what was said durable`).toBeGreaterThanOrEqual(last)
  }
  await storage.close()
}
