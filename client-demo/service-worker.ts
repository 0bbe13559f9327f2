import { join } from 'node:path'
import type { Plugin } from 'vite'
import { generateSW } from 'workbox-build'

/**
 * Writes `sw.js` beside the built page: every file of it is kept in the browser, so that a reload without the server shows the
 * page; boards come from the device's own store. A newer page takes its place in the background and is shown by the next
 * reload. Nothing of the server's answers is kept: no metrics, no tokens.
 */
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
        // The address says which board, not which page.
        ignoreURLParametersMatching: [/.*/],
        directoryIndex: 'index.html',
        cleanupOutdatedCaches: true,
        clientsClaim: true,
        skipWaiting: true,
      })
      for (const warning of warnings) this.warn(warning)
    },
  }
}
