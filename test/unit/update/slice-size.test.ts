import { expect, test } from 'vitest'
import { SliceSize } from '../../../src/update/slice-size.ts'

test('[LT1] slices begin small, shrink at once to what takes a millisecond, and grow again step by step', () => {
  const size = new SliceSize(32)
  expect(size.limit).toBe(32)
  // 1.2 ms a struct.
  size.took(38, 32)
  expect(size.limit).toBe(1)
  expect([size.isEasy, size.deletes]).toEqual([false, 128])
  const limits: number[] = []
  for (let i = 0; i < 100; i++) {
    size.took(0.1, size.limit)
    limits.push(size.limit)
  }
  expect([...new Set(limits)]).toEqual([1, 2, 4, 8, 16, 32, 64, 128])
  expect(size.isEasy).toBe(true)
})

test('[LT1] what takes a little long does not shrink them, and does not let them grow', () => {
  const size = new SliceSize(32)
  for (let i = 0; i < 100; i++) size.took(2, 32)
  expect(size.limit).toBe(32)
})
