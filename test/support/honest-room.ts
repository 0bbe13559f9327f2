/**
 * A process of people in one room: `honest-room.ts <port> <room> <people>`. Each draws ten times a second and moves a cursor fifteen times
 * a second, with the stock provider. For `report` on stdin it says, as JSON, what happened since the last report; for `rest` it
 * stops drawing, waits until all boards are equal and says so.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { sameBoard } from './boards.ts'
import { Random } from './random.ts'
import { stockClient } from './stock-client.ts'
import { until } from './until.ts'

export interface HonestReport {
  /** Edits that somebody else had, each counted once for every other person. */
  readonly edits: number
  /** Milliseconds from an edit until another person had it, where this process was not standing still itself. */
  readonly p50: number
  readonly p99: number
  readonly worst: number
  /** The worst stall of this process itself, ms. */
  readonly own: number
  /** Sockets opened beyond the first one of each person: somebody was closed. */
  readonly reconnects: number
  /** After `rest`: whether all boards hold the same. */
  readonly equal: boolean
}

const EDITS_PER_SECOND = 10
const CURSORS_PER_SECOND = 15
/** Since its last tick, of which there is one every 5 ms: the process itself has stood still. */
const OWN_STALL_MS = 25
/** Keys a person draws on, again and again: a board that does not grow without end. */
const SHAPES = 40

const [port, room, people] = [Number(process.argv[2]), process.argv[3]!, Number(process.argv[4])]
const forever = { onTestFinished: () => {} }
// Each provider listens for the end of the process.
process.setMaxListeners(0)
const random = new Random(1)
let delays: number[] = []
let edits = 0
let tickedAt = performance.now()
setInterval(() => {
  tickedAt = performance.now()
}, 5)
const timers: NodeJS.Timeout[] = []
/** Independent arrivals: exponential gaps. */
function keep(perSecond: number, work: () => void): void {
  const gap = -Math.log(1 - random.next()) * (1000 / perSecond)
  const index = timers.length
  const run = (): void => {
    work()
    timers[index] = setTimeout(run, -Math.log(1 - random.next()) * (1000 / perSecond))
  }
  timers.push(setTimeout(run, gap))
}

// People who know each other, not an office: each has an address, as each attacker has.
const clients = Array.from({ length: people }, (_, i) =>
  stockClient(forever, `ws://127.0.0.1:${port}`, room, { localAddress: `127.8.0.${i + 1}` }),
)
await Promise.all(clients.map((client) => client.synced()))
for (const [person, { doc, awareness }] of clients.entries()) {
  const shapes = doc.getMap<{ readonly x: number; readonly at: number }>('shapes')
  shapes.observe((event) => {
    if (event.transaction.local) return
    const now = performance.now()
    // What lay in a socket while this process itself stood still says nothing about the server.
    const isOwn = now - tickedAt > OWN_STALL_MS
    for (const key of event.keysChanged) {
      const shape = shapes.get(key)
      if (!key.startsWith('p') || shape === undefined) continue
      edits++
      if (!isOwn) delays.push(now - shape.at)
    }
  })
  keep(EDITS_PER_SECOND, () =>
    shapes.set(`p${person}-${random.int(SHAPES)}`, { x: random.next(), at: performance.now() }),
  )
  keep(CURSORS_PER_SECOND, () => awareness.setLocalStateField('cursor', { x: random.next(), y: random.next() }))
}

const loop = monitorEventLoopDelay({ resolution: 1 })
loop.enable()
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'rest') void rest()
  else report(false)
})

async function rest(): Promise<void> {
  for (const timer of timers) clearTimeout(timer)
  const isEqual = () => clients.every(({ doc }) => sameBoard(doc, clients[0]!.doc))
  const equal = await until(isEqual, 'all boards are equal', 20_000).then(
    () => true,
    () => false,
  )
  report(equal)
}

function report(equal: boolean): void {
  const sorted = delays.sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
  const result: HonestReport = {
    edits,
    p50: at(0.5),
    p99: at(0.99),
    worst: sorted.at(-1) ?? 0,
    own: loop.max / 1e6,
    reconnects: clients.reduce((sum, { connections }) => sum + connections() - 1, 0),
    equal,
  }
  delays = []
  edits = 0
  loop.reset()
  console.log(JSON.stringify(result))
}
console.log('drawing')
