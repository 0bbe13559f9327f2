/**
 * Prometheus text exposition format 0.0.4, written by hand: a family is a HELP line, a TYPE line and its samples.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import type { Histogram } from './counters.ts'
import type { Metrics } from './metrics.ts'

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Kind = 'counter' | 'gauge' | 'histogram'

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')
const number = (value: number): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN'

/** Writes families. A family of the same name twice is a mistake in the caller and throws. */
export class MetricsText {
  readonly #lines: string[] = []
  readonly #names = new Set<string>()

  #family(name: string, kind: Kind, help: string): void {
    if (this.#names.has(name)) throw new Error(`metric ${name} is written twice`)
    this.#names.add(name)
    this.#lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${kind}`)
  }
  counter(name: string, help: string, value: number): this {
    this.#family(name, 'counter', help)
    this.#lines.push(`${name} ${number(value)}`)
    return this
  }
  gauge(name: string, help: string, value: number): this {
    this.#family(name, 'gauge', help)
    this.#lines.push(`${name} ${number(value)}`)
    return this
  }
  /** One sample per row: label values in the order of `labels`, then the value. */
  labelled(kind: 'counter' | 'gauge', name: string, help: string, labels: readonly string[], rows: LabelledRows): this {
    this.#family(name, kind, help)
    for (const [values, value] of rows) {
      const pairs = labels.map((label, i) => `${label}="${escapeLabel(values[i] ?? '')}"`)
      this.#lines.push(`${name}{${pairs.join(',')}} ${number(value)}`)
    }
    return this
  }
  histogram(name: string, help: string, histogram: Histogram): this {
    this.#family(name, 'histogram', help)
    let below = 0
    for (const [i, bound] of histogram.bounds.entries()) {
      below += histogram.counts[i]!
      this.#lines.push(`${name}_bucket{le="${number(bound)}"} ${below}`)
    }
    below += histogram.counts.at(-1)!
    this.#lines.push(`${name}_bucket{le="+Inf"} ${below}`)
    this.#lines.push(`${name}_sum ${number(histogram.sum)}`, `${name}_count ${below}`)
    return this
  }
  toString(): string {
    return `${this.#lines.join('\n')}\n`
  }
}

export type LabelledRows = readonly (readonly [readonly string[], number])[]
const rows = (values: Record<string, number>): LabelledRows =>
  Object.entries(values).map(([label, value]) => [[label], value])

/** The whole page. `nowMs` is the clock of the metrics; `write` adds what other parts (storage, cluster) keep. */
export function metricsText(metrics: Metrics, nowMs: number, write: (text: MetricsText) => void = () => {}): string {
  const cpu = process.cpuUsage()
  const text = new MetricsText()
    .gauge('ws_active_sockets', 'Open client sockets.', metrics.activeSockets())
    .gauge(
      'ws_lingering_sockets',
      'Client sockets that were ended and may still hold a descriptor, for up to 20 s.',
      metrics.lingeringSockets(),
    )
    .gauge('rooms_active', 'Rooms in memory.', metrics.roomsActive())
    .labelled(
      'counter',
      'ws_messages_received_total',
      'Frames read from clients.',
      ['type'],
      rows(metrics.messagesReceived.values),
    )
    .labelled(
      'counter',
      'ws_messages_sent_total',
      'Frames whose last byte has left the server.',
      ['type'],
      rows(metrics.messagesSent.values),
    )
    .labelled(
      'counter',
      'ws_messages_dropped_total',
      'Frames not sent as such: superseded presence, sync folded into a diff, what an evicted client still had.',
      ['type'],
      rows(metrics.messagesDropped.values),
    )
    .counter(
      'ws_backpressure_drops_total',
      'Sync frames not queued for a client because its queue was full, or because it is behind and does not keep up; a diff covers them.',
      metrics.backpressureDrops.value,
    )
    .labelled(
      'counter',
      'ws_clients_dropped_total',
      'Clients evicted for not keeping up.',
      ['reason'],
      rows(metrics.clientsDropped.values),
    )
    .counter('ws_rate_limit_exceeded_total', "Document frames over a client's rate budget.", metrics.rateLimited.value)
    .counter(
      'ws_presence_superseded_total',
      "Presence frames over a client's budget for presence whose place a newer one took.",
      metrics.presenceSuperseded.value,
    )
    .counter(
      'ws_presence_echoes_total',
      'Presence frames that held nothing new and were ignored for free.',
      metrics.presenceEchoes.value,
    )
    .labelled(
      'counter',
      'ws_presence_refused_total',
      'Presence entries not taken.',
      ['reason'],
      rows(metrics.presenceRefused.values),
    )
    .labelled(
      'counter',
      'ws_message_errors_total',
      'Malformed or refused frames.',
      ['reason'],
      rows(metrics.messageErrors.values),
    )
    .labelled(
      'counter',
      'ws_floods_total',
      'Clients closed for sending too many frames: over their own bound, or in the share of an address over its bound.',
      ['scope'],
      rows(metrics.floods.values),
    )
    .labelled(
      'counter',
      'ws_late_writes_total',
      'Clients that had sent edits and were gone before they were in their room, by what became of the edits.',
      ['outcome'],
      rows(metrics.lateWrites.values),
    )
    .counter('ws_received_bytes_total', 'Bytes of frames read from clients.', metrics.bytesReceived.value)
    .counter(
      'ws_sent_bytes_total',
      'Bytes of frames handed to client sockets, headers included.',
      metrics.bytesSent.value,
    )
    .gauge(
      'ws_buffered_bytes',
      'Bytes held for clients, socket buffers and queues, at the last sweep.',
      metrics.bufferedBytes,
    )
    .counter(
      'ws_split_texts_total',
      'Times formatted text was shown by halves: parts of a diff that ended inside it, as what goes together is longer than WS_MAX_WHOLE_TEXT_BYTES, and large updates that took too long.',
      metrics.splitTexts.value,
    )
    .labelled(
      'gauge',
      'memory_held_bytes',
      'Bytes held for anybody, by kind, at the last sweep; documents are estimated.',
      ['kind'],
      rows(metrics.memoryHeld),
    )
    .labelled(
      'counter',
      'memory_shed_total',
      'What was let go because memory was short: empty rooms, clients that do not keep up, the largest rooms.',
      ['kind'],
      rows(metrics.memoryShed.values),
    )
    .gauge('ws_queue_depth_max', 'Longest client queue of the last minute, frames.', metrics.queueDepthMax.get(nowMs))
    .gauge(
      'ws_oldest_unsent_seconds',
      'Age of the oldest frame that some client has not taken.',
      metrics.oldestUnsentSeconds(),
    )
    .labelled(
      'counter',
      'ws_resyncs_total',
      'Diffs owed to a client (out) or asked of one (in).',
      ['direction', 'cause'],
      [
        ...Object.entries(metrics.resyncsOut.values).map(([cause, n]) => [['out', cause], n] as const),
        ...Object.entries(metrics.resyncsIn.values).map(([cause, n]) => [['in', cause], n] as const),
      ],
    )
    .labelled(
      'counter',
      'rooms_rebuilt_total',
      'Documents thrown away and made anew because a call into Yjs threw, by where it did.',
      ['reason'],
      rows(metrics.roomsRebuilt.values),
    )
    .counter(
      'rooms_given_up_total',
      'Rooms that broke again and again: their clients were closed with 1011.',
      metrics.roomsGivenUp.value,
    )
    .labelled(
      'counter',
      'errors_caught_total',
      'Unexpected errors that were caught, by where; the log has them.',
      ['where'],
      rows(metrics.errorsCaught.values),
    )
    .labelled(
      'counter',
      'ws_refusals_total',
      'Upgrades refused: with a close frame after the upgrade, or with an HTTP status before it.',
      ['answer'],
      rows(metrics.refusals.values),
    )
    .labelled(
      'counter',
      'rooms_refused_total',
      'Rooms not brought into memory: their owner has its share, or all are occupied.',
      ['limit'],
      rows(metrics.roomsRefused.values),
    )
    .labelled(
      'counter',
      'rooms_made_way_total',
      'Rooms that left memory early so that another could come in.',
      ['limit'],
      rows(metrics.roomsMadeWay.values),
    )
    .counter(
      'ws_long_messages_cut_total',
      'Clients cut for a message that only a long place takes; they get one when they are back.',
      metrics.longMessagesCut.value,
    )
    .labelled('counter', 'ws_closes_total', 'Sockets closed, by close code.', ['code'], rows(metrics.closes.values))
    .histogram(
      'ws_delivery_delay_seconds',
      'From a frame being received to its effect being written to one client; of a diff and of held presence, since the oldest of it was received.',
      metrics.deliveryDelay,
    )
    .labelled(
      'counter',
      'room_updates_total',
      'Updates of members, by their way: sent on before the document had them, or gathered with others.',
      ['way'],
      rows(metrics.roomUpdates.values),
    )
    .histogram('room_flush_seconds', "Time one room's flush took.", metrics.roomFlush)
    .labelled(
      'counter',
      'loop_work_seconds_total',
      'Time of the event loop that budgeted work took.',
      ['kind'],
      rows(metrics.loopWork.values),
    )
    .labelled(
      'counter',
      'loop_postponed_total',
      'Times that work had to wait for another turn of the event loop.',
      ['kind'],
      rows(metrics.loopPostponed.values),
    )
    .histogram(
      'loop_turn_seconds',
      'Budgeted work in one turn of the event loop, of turns in which some had waited.',
      metrics.loopTurn,
    )
    .labelled(
      'counter',
      'loop_share_exceeded_total',
      'Clients whose updates took more than their share of the loop: slowed, and closed when it went on.',
      ['outcome'],
      rows(metrics.loopShare.values),
    )
    .counter('process_cpu_seconds_total', 'User and system CPU time.', (cpu.user + cpu.system) / 1e6)
    .gauge(
      'process_open_fds',
      'Open files and sockets; 0 where the system does not say.',
      metrics.openDescriptors() ?? 0,
    )
    .counter(
      'log_lines_dropped_total',
      'Log lines that nobody will see: the output was full, closed, or read by nobody.',
      metrics.logLinesDropped(),
    )
    .counter(
      'log_lines_left_out_total',
      'Log lines over `LOG_MAX_LINES_PER_S`; the next one of the kind says how many, as `leftOut`.',
      metrics.logLinesLeftOut(),
    )
    .gauge('process_resident_memory_bytes', 'Resident memory.', metrics.residentBytes())
    .gauge(
      'nodejs_eventloop_lag_seconds',
      'How late a timer was, worst of the last minute.',
      metrics.eventLoopLagSeconds(),
    )
    .gauge(
      'nodejs_eventloop_utilization',
      'Part of its time that the loop worked, over the last 200 ms.',
      metrics.eventLoopUtilisation(),
    )
  write(text)
  return text.toString()
}
