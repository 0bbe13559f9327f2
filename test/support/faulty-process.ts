/** The server's process, in which SIGUSR2 throws where nothing catches it, and SIGCONT rejects where nobody waits. */
process.on('SIGUSR2', () => {
  throw new Error('thrown for a test')
})
process.on('SIGCONT', () => {
  void Promise.reject(new Error('rejected for a test'))
})
await import('../../src/main.ts')
