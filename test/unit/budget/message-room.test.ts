import { expect, test } from 'vitest'
import { type LongPlace, MessageRoom } from '../../../src/budget/message-room.ts'
import { Counter } from '../../../src/observe/counters.ts'

const MiB = 1 << 20

function room(maxMemoryBytes: number) {
  const clock = { ms: 0, now: () => clock.ms }
  const cut = new Counter()
  const messages = new MessageRoom({ longBytes: 16 * MiB, maxMemoryBytes, maxConnectionsPerIp: 200 }, clock, cut)
  const ended: string[] = []
  const enter = (who: string): LongPlace | null => {
    const kind = messages.promise(who)
    if (kind === null) return null
    const place = { usedAt: clock.ms, isWanted: kind === 'wanted', end: () => ended.push(who) }
    messages.take(place)
    return place
  }
  return { clock, cut, messages, ended, enter }
}

test('[MM7] what connections may leave unfinished is an eighth of the memory for long places, and one for the short ones of an address', () => {
  for (const megabytes of [300, 3000, 30_000]) {
    const { messages } = room(megabytes * 1e6)
    expect(messages.most * messages.longBytes).toBeLessThanOrEqual(Math.max(2 * 16 * MiB, (megabytes * 1e6) / 8))
    expect(messages.shortBytes * 200).toBeLessThanOrEqual(Math.max(200 * 131_072, (megabytes * 1e6) / 8))
    expect(messages.shortBytes).toBeGreaterThanOrEqual(131_072)
  }
})

test('[MM7] half of the long places are kept for those who were cut for want of one', () => {
  const { messages, enter, cut } = room(64 * 16 * MiB)
  expect(messages.most).toBe(8)
  expect([1, 2, 3, 4, 5].map((i) => enter(`early ${i}`) !== null)).toEqual([true, true, true, true, false])
  messages.want('early 5')
  expect(enter('early 5')?.isWanted).toBe(true)
  expect(cut.value).toBe(1)
})

test('[MM7] a place that somebody came back for is taken back after a minute without use; one given at first never is', () => {
  const { clock, messages, ended, enter } = room(16 * MiB)
  expect(messages.most).toBe(2)
  enter('first')
  messages.want('second')
  const second = enter('second')!
  messages.want('third')
  clock.ms = 30_000
  expect(enter('third')).toBeNull()
  expect(ended).toEqual([])
  clock.ms = 59_000
  second.usedAt = 5_000
  messages.want('third')
  clock.ms = 66_000
  expect(enter('third')).toBeNull()
  expect(ended).toEqual(['second'])
  messages.giveBack(second)
  expect(enter('third')?.isWanted).toBe(true)
})
