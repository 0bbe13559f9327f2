import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { startProcess, startServerProcess } from '../support/process.ts'
import { rawMember } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

test('[ST8] a second server on the same directory says who has it and does not start; after a kill of the first it does', async (t) => {
  const env = { STORAGE: 'lmdb', DATA_DIR: dataDirectory(t) }
  const first = await startServerProcess(t, env)
  const author = await rawMember(t, first.port, 'board')
  author.doc.getMap('m').set('first', 1)
  await until(async () => (await first.metric('storage_commits_total')) > 0, 'it is saved')

  for (let i = 0; i < 2; i++) {
    const second = startProcess(t, 'src/main.ts', { ...env, PORT: '0' })
    expect(await second.exited).toEqual({ code: 1, signal: null })
    expect(second.output()).toContain('cannot start')
    expect(second.output()).toContain(`in use by another process: process ${first.child.pid}`)
    expect(second.output()).not.toContain('listening')
  }
  // The first one took no notice.
  author.doc.getMap('m').set('second', 2)
  const reader = await rawMember(t, first.port, 'board')
  await until(() => reader.doc.getMap('m').get('second') === 2, 'it goes on')
  expect(author.isOver).toBe(false)
  await until(async () => (await first.metric('storage_unsaved_bytes')) === 0, 'it is saved')

  await first.kill()
  const next = await startServerProcess(t, env)
  const { doc } = await rawMember(t, next.port, 'board')
  expect(doc.getMap('m').toJSON()).toEqual({ first: 1, second: 2 })
}, 40_000)
