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
let clearedAt = performance.now()
process.on('message', (question: 'clear' | number) => {
  if (question === 'clear') {
    crew.tally.clear()
    clearedAt = performance.now()
  }
  const { editDelay, arrivals } = crew.tally
  const slow = arrivals!.filter(({ delay }) => question !== 'clear' && delay > question)
  process.send!({
    max: editDelay.max,
    total: editDelay.total,
    p50: editDelay.quantile(0.5),
    p99: editDelay.quantile(0.99),
    lastSlowMs: slow.length === 0 ? 0 : slow.at(-1)!.at - clearedAt,
  })
})
process.on('disconnect', () => process.exit(0))
crew.tally.arrivals = []
await crew.connect(20_000)
crew.start()
process.send!('ready')
