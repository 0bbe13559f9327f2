import { defineConfig } from 'vite'

// `base: './'` and one `assets/` folder: the server hands out dist/demo at `/` without knowing any file by name.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
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
      '^/(?!@|src/|node_modules/)[^?]+': { target: 'ws://127.0.0.1:1234', ws: true, bypass: (request) => request.url },
    },
  },
})
