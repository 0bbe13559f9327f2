import { expect, test } from 'vitest'
import { adjustedSettings } from '../../../src/settings/adjusted-settings.ts'
import { complete } from '../../../src/settings/config.ts'

test('[FC9] a setting that is not used as it is set is said, with what it comes to', () => {
  expect(adjustedSettings(complete({}))).toEqual([])
  const cut = complete({ slowClientBufferBytes: 900_000, maxBufferedBytes: 1_000_000 })
  expect(adjustedSettings(cut)).toEqual([
    'WS_SLOW_CLIENT_BUFFER_BYTES is 900000, and 500000 is used: half of WS_MAX_BUFFERED_BYTES',
  ])
  const rounded = complete({ roomFlushIntervalMs: 100, awarenessFlushIntervalMs: 130 })
  expect(adjustedSettings(rounded)).toEqual([
    'AWARENESS_FLUSH_INTERVAL_MS is 130, and 150 is used: rooms tick every 50 ms (half of ROOM_FLUSH_INTERVAL_MS)',
  ])
  const slower = complete({ roomFlushIntervalMs: 50, awarenessFlushIntervalMs: 20 })
  expect(adjustedSettings(slower)[0]).toContain('and 25 is used')
  expect(adjustedSettings(complete({ roomFlushIntervalMs: 0, awarenessFlushIntervalMs: 32 }))).toEqual([])
  expect(adjustedSettings(complete({ roomFlushIntervalMs: 100, awarenessFlushIntervalMs: 0 }))).toEqual([])
})
