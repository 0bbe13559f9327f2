/**
 * What log lines tell of: every line has one of these as its `event`, which stays the same whatever becomes of the words. The table
 * in docs/operations.md is made from this list.
 */
export const LOG_EVENTS = {
  work_slowed: "A client's updates take more than `WS_WORK_MS_PER_S`: they wait.",
  work_exceeded: 'It went on for a minute: the client is closed (1013).',
  client_id_taken: 'Two clients write under one client id with different content: the newer is closed (4409).',
  stored_part_refused: 'A stored record that had waited for a predecessor cannot be taken in. It stays where it is.',
  document_broke:
    'A call into Yjs threw: the room goes on with a new document. `update` is the beginning of what did it, where that is known.',
  document_lost: "And the new one could not be filled: the room's clients are closed (1011) and come back.",
  document_rebuilt: 'It took `ms`.',
  listening: 'The server is ready. `port` is what it got.',
  setting_adjusted: 'A setting is rounded or cut; the message says to what.',
  keys_warning: 'Something about the access keys; the message says what.',
  boards_not_kept: '`STORAGE=memory`.',
  open_to_all: 'No access keys are set, and others than this machine can connect.',
  messages_too_short: 'A client may be unable to bring a whole board back.',
  connections_cut: 'The limit of open files leaves less than `MAX_CONNECTIONS`.',
  last_resort: 'An exception reached the process: it stops in order and exits with 1.',
  stopping: 'SIGTERM, SIGINT or `close()`.',
  not_all_saved: 'The grace was over before the store had everything.',
  stopped: 'Everything is let go.',
  save_failed: 'The first time and every tenth; the room stays in memory and it is tried again.',
  save_recovered: 'The store takes this board again.',
  records_quarantined: 'Stored records that are bad; the rest is served.',
  quarantine_failed: 'They are still in the board, and skipped.',
  reload_failed: 'A room that broke could not read its board from the store.',
  edits_lost: 'A room was given up before the store had all of it: the only line that tells of lost edits.',
  load_failed: 'Joins are refused (1011) until it can.',
  board_has_gaps: 'A record was lost earlier; what builds on it waits for a client that has it.',
  compaction_failed: 'It is tried again later.',
  unexpected_error:
    'Something threw that should not have: a fault of this program. `where` says in what kind of callback.',
  keys_fetched: 'From `AUTH_JWKS_URL`.',
  keys_not_fetched: 'The old ones go on, if there are any.',
  client_failed: 'Something threw while one client was served: it is closed (1011) and comes back.',
  client_close_failed: 'And again while it was closed.',
  client_behind: 'A client does not keep up: what it is owed is folded into one diff.',
  client_resumed: 'It has everything again.',
  frame_dropped: 'The first and every tenth frame that a client that is behind is not given as such.',
  client_evicted: 'It did not keep up at all (1013).',
  join_failed: 'The board could not be loaded for this client.',
  message_too_large: 'A frame over `WS_MAX_MESSAGE_BYTES` (4413).',
  flood: 'Over `WS_MAX_FRAMES_PER_S`, on and on (1013).',
  message_cut: 'A message longer than its place: the client comes back and gets a longer one.',
  refused: 'A client was refused or closed with a reason. The first and every tenth.',
  malformed_frame: 'Nothing that a client makes by itself. The first and every tenth.',
  refused_early: 'Who comes back again and again is refused with an HTTP status.',
  origin_refused: "A page's origin is not in `ALLOWED_ORIGINS`.",
  rate_limited: 'A client sent more than its budget; what was dropped is asked for.',
  memory_short: 'Over `MAX_MEMORY_BYTES`.',
  memory_recovered: 'Below it again.',
  memory_shed: 'The first of what is let go at this look.',
  memory_shed_more: 'How many more.',
  certificate_reloaded: 'SIGHUP. Without TLS there is nothing to reload, and nothing happens.',
  certificate_refused: 'The old one stays.',
  cannot_start: 'The process exits with 1.',
} as const

export type LogEvent = keyof typeof LOG_EVENTS

/** What a line says beside its words. */
export interface LogFacts {
  readonly event: LogEvent
  readonly [fact: string]: unknown
}
