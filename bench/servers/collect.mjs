/**
 * Loaded into every measured server before its own code (`--import`): collects garbage when the benchmark asks, so that
 * memory is compared after a collection. Does nothing else.
 */
process.on('message', async (message) => {
  if (message !== 'collect') return
  for (let i = 0; i < 4; i++) {
    global.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  process.send(process.memoryUsage())
})
process.channel?.unref()
