/** A value that tells its listeners when it changes; listeners run in the order they came, at once. */
export interface Signal<T> {
  readonly value: T
  set(next: T): void
  /** Calls the listener now and on every change; returns how to stop. */
  watch(listener: (value: T) => void): () => void
}

export function signal<T>(initial: T): Signal<T> {
  let current = initial
  const listeners = new Set<(value: T) => void>()
  return {
    get value() {
      return current
    },
    set(next) {
      if (Object.is(next, current)) return
      current = next
      for (const listener of [...listeners]) listener(next)
    },
    watch(listener) {
      listeners.add(listener)
      listener(current)
      return () => listeners.delete(listener)
    },
  }
}

/** Something that happens and carries a value. */
export class Event<T> {
  readonly #listeners = new Set<(value: T) => void>()

  on(listener: (value: T) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  emit(value: T): void {
    for (const listener of [...this.#listeners]) listener(value)
  }
}
