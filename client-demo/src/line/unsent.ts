import type * as Y from 'yjs'
import type { Signal } from '../signal.ts'
import { signal } from '../signal.ts'

/** Longer than the liveness check takes to notice a dead line. */
const REMEMBER_MS = 10_000

const keyOf = (room: string): string => `y-weir:unsent:${room}`

/** For a board that is not open: so many changes of it are only on this device. */
export function rememberUnsent(room: string, count: number): void {
  try {
    localStorage.setItem(keyOf(room), String(count))
  } catch {
    // Storage is switched off: the board's own page will know when it is open.
  }
}

/**
 * How many changes of this person the server may not have. Off the line every change counts; on it, those of the last
 * seconds are remembered, because they count too when it turns out that the line had been dead for a while. Kept across reloads.
 * A change is what a person would call one: a stroke, a drag, a pause in writing; `step` is the number of the present one.
 */
export class Unsent {
  readonly count: Signal<number>
  readonly #key: string
  #online = false
  #recent: number[] = []
  #lastStep = -1

  constructor(
    doc: Y.Doc,
    room: string,
    isOwn: (origin: unknown) => boolean,
    private readonly step: () => number,
  ) {
    this.#key = keyOf(room)
    this.count = signal(this.#stored())
    doc.on('update', (_update: Uint8Array, origin: unknown) => {
      if (isOwn(origin)) this.#note()
    })
    this.count.watch((count) => this.#store(count))
  }

  #note(): void {
    const step = this.step()
    const now = performance.now()
    // A stroke is written in many parts and is one change; its last part says how long it may have been lost.
    if (step === this.#lastStep) {
      if (this.#online) this.#recent[Math.max(0, this.#recent.length - 1)] = now
      else if (this.count.value === 0) this.count.set(1)
      return
    }
    this.#lastStep = step
    if (!this.#online) this.count.set(this.count.value + 1)
    if (this.#recent.length > 0 && this.#recent[0]! < now - 2 * REMEMBER_MS) {
      this.#recent = this.#recent.filter((at) => at > now - REMEMBER_MS)
    }
    if (this.#online) this.#recent.push(now)
  }

  /** The server has answered everything: nothing is owed. */
  arrived(): void {
    this.#online = true
    this.#recent = []
    this.count.set(0)
  }

  /** The line is gone; whatever was sent after `lastSign` (performance.now() of the last frame received) may be lost. */
  lost(lastSign: number): void {
    if (!this.#online) return
    this.#online = false
    this.count.set(this.#recent.filter((at) => at > lastSign).length)
    this.#recent = []
  }

  #stored(): number {
    try {
      return Math.max(0, Number(localStorage.getItem(this.#key)) || 0)
    } catch {
      return 0
    }
  }

  #store(count: number): void {
    try {
      if (count === 0) localStorage.removeItem(this.#key)
      else localStorage.setItem(this.#key, String(count))
    } catch {
      // Storage is switched off: the number holds until the page is left.
    }
  }
}
