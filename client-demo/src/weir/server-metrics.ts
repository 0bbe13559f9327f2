/** Prometheus text → one number per name: the sum over all labels. Histograms and comments are left out. */
export function parseMetrics(text: string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const line of text.split('\n')) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{.*\})?\s+(\S+)/.exec(line)
    if (!match) continue
    const [, name, value] = match
    const number = Number(value)
    if (/_(bucket|sum|count)$/.test(name!) || !Number.isFinite(number)) continue
    sums.set(name!, (sums.get(name!) ?? 0) + number)
  }
  return sums
}

/** Null when the server keeps its numbers to itself. */
export async function fetchMetrics(): Promise<Map<string, number> | null> {
  try {
    const response = await fetch('/metrics', { cache: 'no-store', signal: AbortSignal.timeout(4_000) })
    return response.ok ? parseMetrics(await response.text()) : null
  } catch {
    return null
  }
}

export interface ServerFigure {
  readonly name: string
  readonly label: string
  readonly format?: (value: number) => string
}

const megabytes = (value: number): string => `${(value / 1024 / 1024).toFixed(1)} MB`
const kilobytes = (value: number): string => `${Math.round(value / 1024).toLocaleString('en')} KB`
const seconds = (value: number): string => `${value.toFixed(1)} s`

export const SERVER_FIGURES: readonly ServerFigure[] = [
  { name: 'ws_active_sockets', label: 'Open sockets' },
  { name: 'rooms_active', label: 'Rooms in memory' },
  { name: 'ws_messages_received_total', label: 'Messages received' },
  { name: 'ws_messages_sent_total', label: 'Messages sent' },
  { name: 'ws_messages_dropped_total', label: 'Messages folded or superseded' },
  { name: 'ws_backpressure_drops_total', label: 'Frames not queued for slow clients' },
  { name: 'ws_resyncs_total', label: 'Resyncs' },
  { name: 'ws_rate_limit_exceeded_total', label: 'Over the rate limit' },
  { name: 'ws_clients_dropped_total', label: 'Clients let go' },
  { name: 'ws_buffered_bytes', label: 'Bytes waiting for clients', format: kilobytes },
  { name: 'ws_queue_depth_max', label: 'Longest queue, last minute' },
  { name: 'ws_oldest_unsent_seconds', label: 'Oldest unsent frame', format: seconds },
  { name: 'process_resident_memory_bytes', label: 'Server memory', format: megabytes },
]
