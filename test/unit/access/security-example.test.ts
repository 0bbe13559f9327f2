import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { createAuthorizer } from '../../../src/access/authorizer.ts'
import { systemClock } from '../../../src/observe/clock.ts'

const SECRET = 'a secret of at least thirty-two bytes, for tests'

test('[AC1] the example of docs/security.md issues tokens that open what they say', async () => {
  const page = await readFile(new URL('../../../docs/security.md', import.meta.url), 'utf8')
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? []
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(15)

  // Below this folder, so that the example finds the package it imports.
  const directory = await mkdtemp(join(import.meta.dirname, '.example-'))
  process.env.AUTH_JWT_SECRET = SECRET
  try {
    const path = join(directory, 'issue-token.mjs')
    await writeFile(path, code)
    const { issueToken } = await import(/* @vite-ignore */ pathToFileURL(path).href)
    const authorizer = await createAuthorizer(
      { jwtSecret: SECRET, readOnlyCursors: true },
      { clock: systemClock, wallClock: Date.now, log: { info: () => {}, warn: () => {} } },
    )
    const admit = async (room: string, mayEdit: boolean) => {
      const token: string = await issueToken('ann', 'team/plan', mayEdit)
      return authorizer.admit({ room, query: `token=${token}`, authorization: '', protocols: '' })
    }
    const grant = await admit('team/plan', true)
    expect(grant).toMatchObject({ kind: 'grant', access: 'write', subject: 'ann' })
    expect(grant.kind === 'grant' && grant.expiresAt! - Date.now()).toBeGreaterThan(590_000)
    expect(await admit('team/plan', false)).toMatchObject({ kind: 'grant', access: 'read' })
    expect(await admit('team/other', true)).toMatchObject({ label: 'room', reason: { code: 4403 } })
  } finally {
    delete process.env.AUTH_JWT_SECRET
    await rm(directory, { recursive: true })
  }
})
