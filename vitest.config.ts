import { defineConfig } from 'vitest/config'

// Two cores: two workers. Every behaviour test owns its server (port 0), so files may run side by side.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.slow.test.ts', 'node_modules/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
