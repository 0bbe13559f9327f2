import type { Lingering } from '../budget/lingering.ts'
import type { Place } from './connection-limits.ts'

/**
 * Sockets that were opened for a close frame alone. They are no places, but descriptors for some seconds, so there are only so
 * many at a time, half of them for one address; the others are answered over HTTP, which frees the descriptor at once.
 */
export class Doorway {
  readonly #max: number
  readonly #open = new Map<string, number>()
  readonly #lingering: Lingering
  #count = 0

  constructor(max: number, lingering: Lingering) {
    this.#max = max
    this.#lingering = lingering
  }

  hasRoom(group: string): boolean {
    const mine = (this.#open.get(group) ?? 0) + this.#lingering.beyond(group, 0)
    return this.#count + this.#lingering.total < this.#max && mine < Math.ceil(this.#max / 2)
  }
  enter(group: string): Pick<Place, 'release'> {
    this.#count++
    this.#open.set(group, (this.#open.get(group) ?? 0) + 1)
    let isOpen = true
    return {
      release: (lingers = false) => {
        if (!isOpen) return
        isOpen = false
        this.#count--
        const left = this.#open.get(group)! - 1
        if (left === 0) this.#open.delete(group)
        else this.#open.set(group, left)
        if (lingers) this.#lingering.add(group)
      },
    }
  }
}
