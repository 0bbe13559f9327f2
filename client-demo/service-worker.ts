import { join } from 'node:path'
import type { Plugin } from 'vite'
import { generateSW } from 'workbox-build'

/**
 * Writes `sw.js` beside the built page: every file of it is kept in the browser, so that a reload without the server shows the
 * page; boards come from the device's own store. The page itself is asked from the server first: it carries what the operator
 * has set, and names the newest files. Nothing of the server's answers is kept: no metrics, no tokens.
 */

/** Both functions run in the service worker, where they come as text: nothing of this file is in their reach. */
const isPage = ({ request, url }: { request: Request; url: URL }): boolean =>
  request.mode === 'navigate' && url.pathname === new URL('./', location.href).pathname

const newestPage = async ({ request }: { request: Request }): Promise<Response> => {
  const kept = () => caches.match(new URL('index.html', location.href), { ignoreSearch: true })
  // Three seconds for a server that does not answer; a proxy answers for it with 502 to 504.
  const patience = new Promise<never>((_, give) => setTimeout(give, 3_000))
  try {
    const answer = await Promise.race([fetch(request), patience])
    return answer.status < 500 ? answer : ((await kept()) ?? answer)
  } catch {
    return (await kept()) ?? Response.error()
  }
}

export function serviceWorker(directory: string): Plugin {
  return {
    name: 'service-worker',
    apply: 'build',
    enforce: 'post',
    async closeBundle() {
      const { warnings } = await generateSW({
        globDirectory: directory,
        globPatterns: ['index.html', 'assets/*', '*.{svg,png,webmanifest}'],
        // Vite has put the hash of the content into these names.
        dontCacheBustURLsMatching: /\/?assets\/[^/]+-[\w-]{8,}\.\w+$/,
        swDest: join(directory, 'sw.js'),
        inlineWorkboxRuntime: true,
        sourcemap: false,
        mode: 'production',
        // The page by its own address comes from the route below.
        directoryIndex: null,
        runtimeCaching: [{ urlPattern: isPage, handler: newestPage }],
        cleanupOutdatedCaches: true,
        clientsClaim: true,
        skipWaiting: true,
      })
      for (const warning of warnings) this.warn(warning)
    },
  }
}
