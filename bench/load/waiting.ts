import { setTimeout as sleep } from 'node:timers/promises'

export { sleep }

const POLL_MS = 20

/** Waits until `isDone`; false when the time is over first. */
export async function until(timeoutMs: number, isDone: () => boolean): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!isDone()) {
    if (performance.now() > deadline) return false
    await sleep(POLL_MS)
  }
  return true
}

/** The promise's value, or an error that says `what` took too long. */
export async function within<T>(timeoutMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${Math.round(timeoutMs / 1000)} s`)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Does `work` for each of `items`, `atOnce` at a time. */
export async function eachInTurn<T>(
  items: readonly T[],
  atOnce: number,
  timeoutMs: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) await work(items[next++]!)
  }
  await within(timeoutMs, 'connecting', Promise.all(Array.from({ length: atOnce }, worker)))
}
