/**
 * Two clients in a room of their own, in a process of their own: what they see of a server's stalls is not the stall of a
 * load generator that is busy reading. Started by `probe.ts`; argument: the address as JSON.
 */
import { setPriority } from 'node:os'
import { Crew } from './crew.ts'
import type { Address } from './peer.ts'

const address = JSON.parse(process.argv[2]!) as Address
const LONGEST_MS = 120_000
/** Each; under the 60 frames a second that y-weir allows a client. */
const EDITS_PER_SECOND = 40

try {
  // Before the load on the same core.
  setPriority(-10)
} catch {
  // Not root: it waits its turn.
}

const crew = new Crew(address, {
  rooms: 1,
  members: 2,
  editsPerSecond: EDITS_PER_SECOND,
  presencePerSecond: 0,
  echoes: false,
  longestMs: LONGEST_MS,
  roomPrefix: 'probe-',
})
process.on('message', (message) => {
  if (message === 'clear') crew.tally.clear()
  const { max, total } = crew.tally.editDelay
  process.send!({ max, total, p99: crew.tally.editDelay.quantile(0.99) })
})
process.on('disconnect', () => process.exit(0))
await crew.connect(20_000)
crew.start()
process.send!('ready')
