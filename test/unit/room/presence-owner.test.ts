import { expect, test } from 'vitest'
import type { PresenceEntry } from '../../../src/protocol/presence-frame.ts'
import { Presence, type PresenceOwner } from '../../../src/room/presence.ts'

const ID = 50
const person = (identity: string): PresenceOwner => ({ identity, presenceIds: [], ownId: null })
const entry = (clock: number): PresenceEntry => ({ id: ID, clock, state: Buffer.from('{}') })

function away() {
  const presence = new Presence({ maxIdsPerConnection: 8 })
  const ann = person('ann')
  presence.announce(ann, [entry(5)], true, 0)
  presence.leave(ann, 1_000)
  return presence
}
const comes = (presence: Presence, who: PresenceOwner, clock: number, now: number) =>
  presence.announce(who, [entry(clock)], true, now).claims.length === 0 && who.presenceIds.includes(ID)

test('[PR1] the last owner of an id has it back for 30 s, whoever took it and handed it on', () => {
  const presence = away()
  const [first, second] = [person('mallory'), person('malvin')]
  expect(comes(presence, first, 6, 2_000)).toBe(true)
  presence.leave(first, 3_000)
  expect(comes(presence, second, 7, 4_000)).toBe(true)
  expect(comes(presence, person('mallory'), 8, 5_000)).toBe(false)
  const back = person('ann')
  expect(comes(presence, back, 5, 30_000)).toBe(true)
  expect(second.presenceIds).toEqual([])
  // It is nobody else's from then on.
  expect(comes(presence, person('malvin'), 20, 30_500)).toBe(false)
})

test('[PR1] after 30 s it is the property of who has it', () => {
  const presence = away()
  const other = person('bob')
  expect(comes(presence, other, 6, 2_000)).toBe(true)
  expect(comes(presence, person('ann'), 7, 31_500)).toBe(false)
  expect(other.presenceIds).toEqual([ID])
})

test('[PR1] what a sibling tab relayed gives it no claim', () => {
  const presence = new Presence({ maxIdsPerConnection: 8 })
  const sibling = person('ann')
  presence.announce(sibling, [{ ...entry(1), id: 7 }], true, 0)
  presence.announce(sibling, [entry(3)], false, 0)
  presence.leave(sibling, 1_000)
  const owner = person('bob')
  expect(comes(presence, owner, 4, 2_000)).toBe(true)
  expect(comes(presence, person('ann'), 5, 3_000)).toBe(false)
})

const big = (id: number, clock: number, length: number): PresenceEntry => ({
  id,
  clock,
  state: Buffer.from(`"${'x'.repeat(length - 2)}"`),
})

test('[PR4] who claims the ids of those that leave has no more of them than anybody, nor more room', () => {
  const presence = new Presence({ maxIdsPerConnection: 8 })
  const heir = person('mallory')
  presence.announce(heir, [big(1, 1, 10)], true, 0)
  for (let round = 0; round < 100; round++) {
    const owner = person('mallory')
    const ids = Array.from({ length: 8 }, (_, i) => 10 + round * 8 + i)
    for (const id of ids) presence.announce(owner, [big(id, 1, 10)], false, round)
    const claims = ids.flatMap((id) => presence.announce(heir, [big(id, 2, 16_000)], true, round).claims)
    for (const claim of claims) presence.grant(claim, round)
    presence.leave(owner, round)
  }
  expect(heir.presenceIds).toHaveLength(8)
  expect(presence.size).toBe(8)
})

test('[PR4] nobody fills a room for the others: a cursor is always taken in, and moves', () => {
  const presence = new Presence({ maxIdsPerConnection: 8 })
  for (let i = 0; i < 10; i++) {
    const flooder = person('mallory')
    for (let id = 0; id < 8; id++) presence.announce(flooder, [big(i * 8 + id, 1, 16_000)], false, 0)
  }
  expect(presence.bytes).toBeGreaterThan(1_000_000)
  const ann = person('ann')
  for (const [clock, length] of [100, 300, 2_000].entries()) {
    expect(presence.announce(ann, [big(1_000, clock, length)], true, 0)).toMatchObject({ changed: true, refused: null })
  }
  expect(presence.announce(ann, [big(1_000, 9, 9_000)], true, 0).refused).toMatchObject({ room_full: 1 })
  expect(presence.bytes).toBeLessThan(1_048_576 + 4_096)
})
