/** Work at a steady rate, by the clock: a busy machine makes larger bursts of it and not less of it. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface Beat {
  /** Times a second. */
  readonly hz: number
  /** What is done; `i` counts from 0. */
  readonly work: (i: number) => void
}

/** Beats for `ms` milliseconds. Resolves when every beat has had its whole number of turns. */
export async function steady(ms: number, beats: readonly Beat[], stepMs = 4): Promise<void> {
  const began = performance.now()
  const done = beats.map(() => 0)
  for (;;) {
    const passed = Math.min(performance.now() - began, ms)
    for (const [b, { hz, work }] of beats.entries()) {
      for (const due = Math.floor((passed * hz) / 1000); done[b]! < due; ) work(done[b]!++)
    }
    if (passed >= ms) return
    await sleep(stepMs)
  }
}
