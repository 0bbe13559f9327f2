/** Work at a steady rate, by the clock: a busy machine makes larger bursts of it and not less of it, up to a quarter of a second's. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface Beat {
  /** Times a second. */
  readonly hz: number
  /** What is done; `i` counts from 0. */
  readonly work: (i: number) => void
}

/** Longest stretch that is made up for, ms: a page that stood still longer has had no pointer events meanwhile. */
const MOST_BEHIND_MS = 250

/** Beats for `ms` milliseconds, and somewhat longer on a machine so busy that time was lost. */
export async function steady(ms: number, beats: readonly Beat[], stepMs = 4): Promise<void> {
  const done = beats.map(() => 0)
  let last = performance.now()
  const latest = last + ms * 1.5
  for (let passed = 0; ; ) {
    const now = performance.now()
    passed = Math.min(ms, passed + Math.min(now - last, MOST_BEHIND_MS))
    last = now
    for (const [b, { hz, work }] of beats.entries()) {
      for (const due = Math.floor((passed * hz) / 1000); done[b]! < due; ) work(done[b]!++)
    }
    if (passed >= ms || now >= latest) return
    await sleep(stepMs)
  }
}
