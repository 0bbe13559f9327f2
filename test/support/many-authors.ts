/** A board that many people have drawn on, as one update: one shape each in root `m`. */
import * as encoding from 'lib0/encoding'

/** Author ids go from `first` on; keys are `k` and the id, so that none supersedes another. */
export function manyAuthors(count: number, first = 1_000_000): Uint8Array {
  const out = encoding.createEncoder()
  encoding.writeVarUint(out, count)
  for (let client = first + count - 1; client >= first; client--) {
    encoding.writeVarUint(out, 1)
    encoding.writeVarUint(out, client)
    encoding.writeVarUint(out, 0)
    // A value of any kind under a key, parent a root.
    encoding.writeUint8(out, 0x28)
    encoding.writeVarUint(out, 1)
    encoding.writeVarString(out, 'm')
    encoding.writeVarString(out, `k${client}`)
    encoding.writeVarUint(out, 1)
    encoding.writeAny(out, client)
  }
  encoding.writeVarUint(out, 0)
  return encoding.toUint8Array(out)
}

/** CPU time of a call, µs, this process's; garbage of before is not charged where `node --expose-gc` runs. */
export function cpuMicros(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return user + system
}
