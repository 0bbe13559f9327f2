/**
 * Two people in a room of their own while a hall of 200 draws in another: what they see of it, and how soon after the hall has
 * stopped an edit is prompt again. They are watched from a process of their own.
 */
import { Crew } from '../load/crew.ts'
import { Probe } from '../load/probe.ts'
import { sleep } from '../load/waiting.ts'
import { HALL } from './drawing.ts'
import { CpuWindow, type Measurement, type Scenario } from './scenario.ts'
import { warm } from './steady.ts'

const CONNECT_TIMEOUT_MS = 60_000
/** How long the hall is watched after it has gone quiet. */
const AFTER_MS = 3000
/** An edit that takes no longer is prompt. */
const PROMPT_MS = 3

export const neighbour: Scenario = {
  name: 'neighbour',
  about:
    'a pair, 40 edits a second each, alone, then beside a hall of 200 at 5 + 10 a second, then after it has stopped',
  deadlineMs: 150_000,
  run: async (context) => {
    const { timing, conditions } = context
    const server = await context.startServer()
    await warm(context, server)
    const probe = context.use(await Probe.start(server.address))
    const rows: Measurement[] = []
    const look = async (variant: string, ms: number): Promise<void> => {
      await probe.clear()
      const cpu = new CpuWindow(server, conditions.cores)
      await sleep(ms)
      const { cpuMs: _cpu, elapsedMs: _elapsed, ...shares } = cpu.end()
      const { p50, p99, max, total } = await probe.read()
      const delays = { editP50: p50, editP99: p99, worstStallMs: max }
      rows.push(
        total === 0
          ? context.measurement(variant, 'overloaded', { clients: 2, ...shares }, ['none of the pair’s edits arrived'])
          : context.measurement(variant, 'ok', { clients: 2, ...delays, ...shares }),
      )
    }
    await sleep(timing.warmupMs)
    await look('alone', timing.windowMs)
    const crew = context.use(
      new Crew(server.address, { ...HALL, roomPrefix: 'hall-', longestMs: timing.warmupMs + timing.windowMs + 5000 }),
    )
    await crew.connect(CONNECT_TIMEOUT_MS)
    crew.start()
    await sleep(timing.warmupMs)
    await look('beside a hall', timing.windowMs)
    await probe.clear()
    crew.stop()
    await sleep(AFTER_MS)
    const { p50, p99, max, lastSlowMs } = await probe.read(PROMPT_MS)
    rows.push(
      context.measurement('after it', 'ok', {
        clients: 2,
        editP50: p50,
        editP99: p99,
        worstStallMs: max,
        promptAfterMs: lastSlowMs,
      }),
    )
    return rows
  },
}
