/**
 * A process of people who draw: `busy-rooms.ts <port> <rooms>`. Two in each room, one of whom edits ten times a second. For every
 * line on stdin it says, as JSON, what happened since the last one. A process of its own, so that what the test does beside
 * it is not taken for the server's delay.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { rawMember } from './raw-client.ts'

export interface BusyReport {
  /** Edits that the other one had. */
  readonly edits: number
  /** Milliseconds from an edit until the other one had it. */
  readonly p99: number
  readonly worst: number
  /** The worst stall of this process itself, ms: as much of `worst` may be its own. */
  readonly own: number
  /** Sockets that are closed. */
  readonly closes: number
}

const [port, rooms] = process.argv.slice(2).map(Number) as [number, number]
const forever = { onTestFinished: () => {} }
let delays: number[] = []
const members = await Promise.all(
  Array.from({ length: rooms }, async (_, i) => {
    const author = await rawMember(forever, port, `busy-${i}`, { record: false })
    const reader = await rawMember(forever, port, `busy-${i}`, { record: false })
    const position = reader.doc.getMap<number>('position')
    position.observe(() => delays.push(performance.now() - position.get('sent')!))
    setInterval(() => author.doc.getMap('position').set('sent', performance.now()), 100)
    return [author, reader]
  }),
)
const loop = monitorEventLoopDelay({ resolution: 1 })
loop.enable()
createInterface({ input: process.stdin }).on('line', () => {
  const sorted = delays.sort((a, b) => a - b)
  const report: BusyReport = {
    edits: sorted.length,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    worst: sorted.at(-1) ?? 0,
    own: loop.max / 1e6,
    closes: members.flat().filter(({ isOver }) => isOver).length,
  }
  delays = []
  loop.reset()
  console.log(JSON.stringify(report))
})
console.log('busy')
