/**
 * A process that writes to a store until it is killed, and says on stdout what is durable: `<room> <n>` a line, after
 * `open`. Records are numbers; a snapshot's parts are all the numbers it merged.
 *   node --import tsx store-writer.ts <directory>
 */
import { writeSync } from 'node:fs'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'

const storage = await LmdbStorage.open({
  directory: process.argv[2]!,
  clock: systemClock,
  commitIntervalMs: 5,
})
const say = (line: string) => writeSync(1, `${line}\n`)
say('open')

async function fill(room: string): Promise<void> {
  const numbers: number[] = []
  for await (const { update } of storage.load(room))
    numbers.push(...(JSON.parse(Buffer.from(update).toString()) as number[]))
  for (let n = (numbers.at(-1) ?? 0) + 1; ; n++) {
    const seq = await storage.append(room, [Buffer.from(JSON.stringify([n]))])
    numbers.push(n)
    say(`${room} ${n}`)
    if (Math.random() > 0.1) continue
    const compacted = storage.compact(room, seq, inParts(numbers))
    numbers.push(++n)
    await Promise.all([compacted, storage.append(room, [Buffer.from(JSON.stringify([n]))])])
    say(`${room} ${n}`)
  }
}

function inParts(numbers: readonly number[]): Buffer[] {
  const half = Math.ceil(numbers.length / 2)
  return [numbers.slice(0, half), numbers.slice(half)].map((part) => Buffer.from(JSON.stringify(part)))
}

await Promise.all(['a', 'b', 'c', 'd'].map(fill))
