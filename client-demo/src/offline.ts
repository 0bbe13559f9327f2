/**
 * Keeps the page itself in the browser (service-worker.ts), so that it opens without the server. A reload asks the server
 * first and shows the newest page; who stays is told that there is one, and nothing is taken away under their hands.
 */

/** Files of this page, by names that say what is in them. */
const partsOf = (page: Document): string[] =>
  [...page.querySelectorAll<HTMLElement>('script[src], link[rel="stylesheet"]')].map(
    (part) => (part.getAttribute('src') ?? part.getAttribute('href') ?? '').split('/').at(-1)!,
  )

/** Gives a way to ask whether there is a newer page: it is worth asking after the server was away. */
export function keepPage(onNewer: () => void): () => void {
  if (!('serviceWorker' in navigator) || !window.isSecureContext || import.meta.env.DEV) return () => {}
  navigator.serviceWorker.addEventListener('controllerchange', async () => {
    // The first one to come takes this page over as well; news it is only when it brings another page than this.
    const kept = await fetch('./index.html')
      .then((response) => response.text())
      .catch(() => null)
    if (kept !== null && partsOf(document).some((part) => !kept.includes(part))) onNewer()
  })
  // After the board: the first visit is not the time to fetch everything twice.
  const register = () => void navigator.serviceWorker.register('./sw.js').catch(() => {})
  if (document.readyState === 'complete') register()
  else window.addEventListener('load', register, { once: true })
  return () =>
    void navigator.serviceWorker
      .getRegistration()
      .then((registration) => registration?.update())
      .catch(() => {})
}
