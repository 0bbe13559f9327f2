import { defineConfig } from 'vitest/config'

// What takes minutes or needs the machine for itself (network namespaces, kill rounds): one file at a time.
export default defineConfig({
  test: {
    include: ['test/**/*.slow.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
})
