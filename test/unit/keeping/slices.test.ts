import { expect, test } from 'vitest'
import { STRETCH_MS } from '../../../src/budget/loop-time.ts'
import { Slices } from '../../../src/keeping/slices.ts'
import { HeldClock } from '../../support/held-clock.ts'
import { heldLoop } from '../../support/held-loop.ts'

test('[ST9] one turn of the loop, one slice, in the order of asking', async () => {
  const clock = new HeldClock()
  const slices = new Slices(heldLoop(clock))
  const order: string[] = []
  const work = async (name: string) => {
    for (let i = 0; i < 2; i++) {
      await slices.turn()
      order.push(name)
    }
  }
  const done = Promise.all([work('a'), work('b'), work('c')])
  await clock.turn()
  expect(order).toEqual(['a'])
  await clock.turn()
  expect(order).toEqual(['a', 'b'])
  await clock.settle()
  await done
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
})

test('a slice is over when its time is', async () => {
  const clock = new HeldClock()
  const asked = new Slices(heldLoop(clock)).turn()
  await clock.turn()
  const slice = await asked
  expect(slice.over()).toBe(false)
  clock.spend(STRETCH_MS)
  expect(slice.over()).toBe(true)
})

test('exclusive work runs one after the other, also after one that failed', async () => {
  const slices = new Slices(heldLoop(new HeldClock()))
  const log: string[] = []
  const work = (name: string, fails = false) =>
    slices.exclusive(async () => {
      log.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      log.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const results = await Promise.allSettled([work('a'), work('b', true), work('c')])
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
