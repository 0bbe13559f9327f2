import { expect, test } from 'vitest'
import {
  type Backlog,
  clampSoft,
  decide,
  type FlowLimits,
  type FlowStep,
  partBytes,
} from '../../../src/outbound/flow-policy.ts'

const limits: FlowLimits = { softBytes: 100_000, hardBytes: 400_000, maxQueued: 3, maxCongestedMs: 1000 }
const calm: Backlog = {
  socketBytes: 0,
  queuedBytes: 0,
  queuedFrames: 0,
  frameBytes: 100,
  congestedMs: 0,
  uncuttableDraining: false,
}

const cases: [string, Partial<Backlog>, FlowStep][] = [
  ['an empty socket takes a frame', {}, 'send'],
  ['at the soft mark it still does', { socketBytes: 100_000 }, 'send'],
  ['above it frames are held', { socketBytes: 100_001 }, 'hold'],
  ['behind a queue they are held too, though the socket has drained', { queuedFrames: 1, queuedBytes: 10 }, 'hold'],
  ['a full queue folds, by number', { socketBytes: 100_001, queuedFrames: 3, queuedBytes: 300 }, 'fold'],
  ['a full queue folds, by bytes', { socketBytes: 90_000, queuedFrames: 1, queuedBytes: 299_901 }, 'fold'],
  ['a frame too long for one goes out in parts', { frameBytes: 65_537 }, 'fold'],
  ['so does one that would reach the hard mark', { socketBytes: 340_000, frameBytes: 60_000 }, 'fold'],
  ['the hard mark evicts, at it and not above', { socketBytes: 400_000 }, 'evict_bytes'],
  ['one byte less does not', { socketBytes: 399_999, frameBytes: 0 }, 'hold'],
  ['queue and socket count together', { socketBytes: 200_000, queuedFrames: 1, queuedBytes: 200_000 }, 'evict_bytes'],
  ['except while a frame that cannot be cut is draining', { socketBytes: 5_000_000, uncuttableDraining: true }, 'fold'],
  ['age evicts, at the limit', { socketBytes: 100_001, congestedMs: 1000 }, 'evict_age'],
  [
    'also during an uncuttable frame',
    { socketBytes: 5_000_000, uncuttableDraining: true, congestedMs: 1000 },
    'evict_age',
  ],
  ['bytes come before age', { socketBytes: 400_000, congestedMs: 5000 }, 'evict_bytes'],
]

for (const [what, backlog, step] of cases) {
  test(`[FC6] ${what}: ${step}`, () => expect(decide({ ...calm, ...backlog }, limits)).toBe(step))
}

test('[FC6] age 0 turns age eviction off', () => {
  expect(decide({ ...calm, socketBytes: 100_001, congestedMs: 1e9 }, { ...limits, maxCongestedMs: 0 })).toBe('hold')
})

test('[FC6] the soft mark is at most half of the hard one', () => {
  expect(clampSoft(262_144, 1_048_576)).toBe(262_144)
  expect(clampSoft(900_000, 1_000_001)).toBe(500_000)
})

test('[FC1] parts are 64 KiB, and two fit under a lower soft mark', () => {
  expect(partBytes({ ...limits, softBytes: 262_144 })).toBe(65_536)
  expect(partBytes({ ...limits, softBytes: 20_000 })).toBe(10_000)
  expect(partBytes({ ...limits, softBytes: 100 })).toBe(1024)
})
