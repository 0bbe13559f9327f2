/**
 * Keeps the page itself in the browser (service-worker.ts), so that it opens without the server. A newer page is fetched in
 * the background and shown by the next reload, whenever the person wants one: nothing is taken away under their hands.
 */
export function keepPage(onNewer: () => void): void {
  if (!('serviceWorker' in navigator) || !window.isSecureContext || import.meta.env.DEV) return
  const before = navigator.serviceWorker.controller
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    // The first one to come takes this page over as well; only the second is news.
    if (before) onNewer()
  })
  // After the board: the first visit is not the time to fetch everything twice.
  const register = () => void navigator.serviceWorker.register('./sw.js').catch(() => {})
  if (document.readyState === 'complete') register()
  else window.addEventListener('load', register, { once: true })
}
