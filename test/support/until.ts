/** Waits for a condition, not for a time; the bound only turns a hang into a message. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`after ${withinMs} ms still not: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
