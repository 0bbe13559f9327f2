/** Made in a row before it counts what that takes, ms: scrapers, and a person who reloads. */
const BURST_MS = 100
/** Share of the time beyond that. */
const SHARE = 0.1

/**
 * A page that anybody may ask for as often as they like: making it takes a tenth of the time at most. Beyond that the last one
 * is given again. `now`: clock ms.
 */
export function seldom(make: () => string, now: () => number): () => string {
  let page: string | null = null
  let credit = BURST_MS
  let at = now()
  return () => {
    const started = now()
    credit = Math.min(BURST_MS, credit + (started - at) * SHARE)
    at = started
    if (page === null || credit > 0) {
      page = make()
      credit -= now() - started
    }
    return page
  }
}
