import { describe, expect, test } from 'vitest'
import { concerns, createRevocations, type Revocation } from '../../../src/access/revocations.ts'

const OLD = { subject: 'ann', room: 'a', issuedAt: 999 }
const NEW = { ...OLD, issuedAt: 1000 }
const UNDATED = { ...OLD, issuedAt: null }
const NOBODY = { subject: null, room: 'a', issuedAt: 999 }

const CASES: [string, Revocation, object, boolean][] = [
  ['by person', { subject: 'ann', before: 1000 }, OLD, true],
  ['by person, a newer token', { subject: 'ann', before: 1000 }, NEW, false],
  ['by person, a token without a date', { subject: 'ann', before: 1000 }, UNDATED, true],
  ['by person, somebody else', { subject: 'bob', before: 1000 }, OLD, false],
  ['by person, a token that names nobody', { subject: 'ann', before: 1000 }, NOBODY, false],
  ['by room', { room: 'a', before: 1000 }, OLD, true],
  ['by room, a token that names nobody', { room: 'a', before: 1000 }, NOBODY, true],
  ['by room, another room', { room: 'b', before: 1000 }, OLD, false],
  ['by both', { subject: 'ann', room: 'a', before: 1000 }, OLD, true],
  ['by both, another room', { subject: 'ann', room: 'b', before: 1000 }, OLD, false],
  ['by both, somebody else', { subject: 'bob', room: 'a', before: 1000 }, OLD, false],
  ['by neither', { before: 1000 }, OLD, false],
]

describe('[AC3] what a revocation concerns', () => {
  test.each(CASES)('%s', (_, revocation, grant, expected) => {
    expect(concerns(revocation, grant as typeof OLD)).toBe(expected)
    const revocations = createRevocations()
    revocations.add(revocation)
    expect(revocations.covers(grant as typeof OLD)).toBe(expected)
  })

  test('names cannot be composed to look like others', () => {
    const revocations = createRevocations()
    revocations.add({ subject: 'a","b', before: 1000 })
    expect(revocations.covers({ subject: 'a', room: 'b', issuedAt: 1 })).toBe(false)
  })

  test('the latest of several counts, in whatever order they come', () => {
    const revocations = createRevocations()
    revocations.add({ subject: 'ann', before: 2000 })
    revocations.add({ subject: 'ann', before: 1000 })
    expect(revocations.covers({ ...OLD, issuedAt: 1500 })).toBe(true)
    expect(revocations.size).toBe(1)
  })

  test('over the bound, older tokens of everybody are refused, and no revoked one comes back', () => {
    const revocations = createRevocations(3)
    for (let n = 1; n <= 10; n++) revocations.add({ subject: `s${n}`, before: n * 1000 })
    expect(revocations.size).toBe(3)
    for (let n = 1; n <= 10; n++) {
      expect(revocations.covers({ subject: `s${n}`, room: 'a', issuedAt: n * 1000 - 1 })).toBe(true)
    }
    expect(revocations.covers({ subject: 'innocent', room: 'a', issuedAt: 6999 })).toBe(true)
    expect(revocations.covers({ subject: 'innocent', room: 'a', issuedAt: 7000 })).toBe(false)
  })
})
