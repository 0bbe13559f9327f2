import { clampSoft } from '../outbound/flow-policy.ts'
import { tickOf } from '../room/ticks.ts'
import type { Config } from './settings.ts'

/** Settings that cannot be used as they are set, a sentence each: whoever set one is told at start what it comes to. */
export function adjustedSettings(config: Config): string[] {
  const adjusted: string[] = []
  const { slowClientBufferBytes, maxBufferedBytes, awarenessFlushIntervalMs, roomFlushIntervalMs } = config
  const softBytes = clampSoft(slowClientBufferBytes, maxBufferedBytes)
  if (softBytes !== slowClientBufferBytes) {
    adjusted.push(
      `WS_SLOW_CLIENT_BUFFER_BYTES is ${slowClientBufferBytes}, and ${softBytes} is used: half of WS_MAX_BUFFERED_BYTES`,
    )
  }
  const presenceMs = tickOf(awarenessFlushIntervalMs, roomFlushIntervalMs)
  // A tick may come a quarter of the interval early: that is as asked.
  if (presenceMs > awarenessFlushIntervalMs && awarenessFlushIntervalMs > 0) {
    adjusted.push(
      `AWARENESS_FLUSH_INTERVAL_MS is ${awarenessFlushIntervalMs}, and ${presenceMs} is used: rooms tick every ${tickOf(0, roomFlushIntervalMs)} ms (half of ROOM_FLUSH_INTERVAL_MS)`,
    )
  }
  return adjusted
}
