import { join } from 'node:path'
import { defineConfig, type ProxyOptions } from 'vite'
import { devTokens } from './dev-tokens.ts'
import { serviceWorker } from './service-worker.ts'

/** Pages and modules are Vite's own; a WebSocket upgrade, which has no response yet, goes to the server. */
const httpStays: NonNullable<ProxyOptions['bypass']> = (request, response) => (response ? request.url : undefined)

// `base: './'` and one `assets/` folder: the server hands out dist/demo at `/` without knowing any file by name.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [devTokens(), serviceWorker(join(import.meta.dirname, '../dist/demo'))],
  build: {
    outDir: '../dist/demo',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined assets would be data: URLs, which the page's policy forbids for everything but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      '/metrics': 'http://127.0.0.1:1234',
      // Every other WebSocket is a room; Vite keeps its own under its subprotocol.
      '^/(?!@|src/|node_modules/)[^?]+': { target: 'ws://127.0.0.1:1234', ws: true, bypass: httpStays },
    },
  },
})
