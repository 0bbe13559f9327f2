/**
 * Every setting. A new one is one entry here: README's table is written from this list, and a test compares the two.
 * Names only grow: other people's start scripts have them.
 */
import { totalmem } from 'node:os'
import { CHECK_LIMITS } from '../update/update-check.ts'
import { choice, number, orZero, shownAs, text } from './setting.ts'

const KiB = 1024
const MiB = 1024 * KiB
const GiB = 1024 * MiB
const DAY = 86_400_000

/** Memory that this process may have: the container's where there is one, else the machine's. */
function memoryBytes(): number {
  const constrained = process.constrainedMemory?.() ?? 0
  const total = totalmem()
  return constrained > 0 && constrained < total ? constrained : total
}

export const SETTINGS = {
  host: text('HOST', '127.0.0.1', 'Address to listen on.'),
  port: number('PORT', 1234, 0, 65_535, 'Port to listen on; 0 takes a free one.'),
  storage: choice(
    'STORAGE',
    'lmdb',
    ['lmdb', 'postgres', 'memory'],
    'Where boards are kept: in `DATA_DIR`, or in the database of `DATABASE_URL`. `memory`: a board is thrown away when its room empties.',
  ),
  dataDir: text('DATA_DIR', './data', 'Directory of the stored boards; one process each.'),
  databaseUrl: text(
    'DATABASE_URL',
    '',
    'PostgreSQL of `STORAGE=postgres`, as postgres://user:password@host:5432/name.',
  ),
  databaseTimeoutMs: number(
    'DATABASE_TIMEOUT_MS',
    15_000,
    100,
    600_000,
    'A statement that the database does not answer for so long has failed: the write is tried again, a join is refused.',
  ),
  roomFlushIntervalMs: number(
    'ROOM_FLUSH_INTERVAL_MS',
    8,
    0,
    1000,
    'Least time for which a room collects edits while the server is busy, before it sends them as one update; at most 48 ms. 0: edits always leave at once.',
  ),
  awarenessFlushIntervalMs: number(
    'AWARENESS_FLUSH_INTERVAL_MS',
    16,
    0,
    1000,
    'How long presence is collected; 16 is 60 cursor positions a second. Up to three times that while the server is busy. Rounded up to a multiple of half of `ROOM_FLUSH_INTERVAL_MS`.',
  ),
  roomIdleMs: number('ROOM_IDLE_MS', 10_000, 0, DAY, 'How long an empty room stays in memory. 0: not at all.'),
  slowClientBufferBytes: number(
    'WS_SLOW_CLIENT_BUFFER_BYTES',
    256 * KiB,
    KiB,
    GiB,
    'Soft mark: more than this waiting in a socket and its client is congested, frames are held. At most half of the hard mark, whatever is set.',
  ),
  maxQueuedMessages: number(
    'WS_MAX_QUEUED_MESSAGES',
    64,
    1,
    65_536,
    'Frames held for a congested client; one more and they are folded into one diff.',
  ),
  maxBufferedBytes: number(
    'WS_MAX_BUFFERED_BYTES',
    MiB,
    2 * KiB,
    GiB,
    'Hard mark: at this many bytes held for one client it is closed with 1013.',
  ),
  maxCongestedMs: number(
    'WS_MAX_CONGESTED_MS',
    30_000,
    0,
    DAY,
    'A congested client that drains nothing for this long is closed with 1013. 0: never.',
  ),
  drainBatchSize: number('WS_DRAIN_BATCH_SIZE', 16, 1, 65_536, 'Frames written to a draining client per loop turn.'),
  // A stock client hangs up when one message takes 30 s: 1 MiB arrives in time down to 300 kbit/s, and takes 8.4 s at 1 Mbit/s.
  maxWholeTextBytes: number(
    'WS_MAX_WHOLE_TEXT_BYTES',
    MiB,
    0,
    64 * MiB,
    'Longest part of a diff that is sent uncut because formatted text in it goes together; longer, it is cut every 64 KiB. Clients hang up when one message takes 30 s.',
  ),
  closeGraceMs: number(
    'WS_CLOSE_GRACE_MS',
    2000,
    0,
    60_000,
    'How long a client that is closed may take to read what was sent, before it is cut.',
  ),
  bufferSweepIntervalMs: number(
    'WS_BUFFER_SWEEP_INTERVAL_MS',
    5000,
    100,
    3_600_000,
    'How often `ws_buffered_bytes` is refreshed.',
  ),
  evictionsBeforeDegraded: number(
    'WS_EVICTIONS_BEFORE_DEGRADED',
    3,
    0,
    1000,
    'Evictions within the window after which a client comes back coalesced. 0: never.',
  ),
  evictionWindowMs: number(
    'WS_EVICTION_WINDOW_MS',
    600_000,
    1000,
    DAY,
    'Window for the line above; a clean one brings the normal rate back.',
  ),
  degradedIntervalMs: number(
    'WS_DEGRADED_INTERVAL_MS',
    250,
    1,
    60_000,
    'Least time between two updates to such a client; it is looked at ten times a second.',
  ),
  rateLimitMaxTokens: number(
    'WS_RATE_LIMIT_MAX_TOKENS',
    300,
    1,
    1_000_000,
    'Document frames a client may send in a burst; those over it are dropped and asked for again.',
  ),
  rateLimitRefillWindowMs: number(
    'WS_RATE_LIMIT_REFILL_WINDOW_MS',
    2000,
    1,
    3_600_000,
    'Time in which an empty budget is full again: 150 a second carry an app that writes with each event of a 144 Hz pointer.',
  ),
  presencePerSecond: number(
    'WS_PRESENCE_PER_S',
    120,
    1,
    1_000_000,
    'Presence frames of a client that are handled per second; of those over it only the newest counts, for free.',
  ),
  presenceBytesPerSecond: number(
    'WS_PRESENCE_BYTES_PER_S',
    256 * KiB,
    KiB,
    GiB,
    'Bytes of them per second, with the same end.',
  ),
  maxFramesPerSecond: number(
    'WS_MAX_FRAMES_PER_S',
    1000,
    10,
    10_000_000,
    'Frames of any kind a client may send per second, after ten seconds’ worth at once; one that goes on is closed with 1013. Excalidraw on a 144 Hz screen sends some 800.',
  ),
  maxMessageBytes: number(
    'WS_MAX_MESSAGE_BYTES',
    16 * MiB,
    KiB,
    GiB,
    'Largest frame taken; a larger one closes with 4413. Not below `MAX_DOC_BYTES`: a client may have to bring a whole board back.',
  ),
  inboundBytesPerSecond: number(
    'WS_INBOUND_BYTES_PER_S',
    MiB,
    KiB,
    GiB,
    'Bytes of document frames a client may send per second, after a burst of `WS_MAX_MESSAGE_BYTES`.',
  ),
  workMsPerSecond: number(
    'WS_WORK_MS_PER_S',
    250,
    1,
    1000,
    "Milliseconds of the loop that a client's updates may take per second, after the burst; beyond it they wait, and after a minute of it the client is closed with 1013.",
  ),
  workBurstMs: number(
    'WS_WORK_BURST_MS',
    10_000,
    100,
    3_600_000,
    'What they may take at once: bringing back a board of 16 MB takes 2 to 4 s.',
  ),
  idleTimeoutS: orZero(
    number('WS_IDLE_TIMEOUT_S', 60, 8, 960, 'A peer that answers no ping for this long is dead. 0: never.'),
  ),
  maxDocBytes: number(
    'MAX_DOC_BYTES',
    16 * MiB,
    KiB,
    4 * GiB,
    'A board larger than this is read-only: writers are closed with 4413.',
  ),
  maxDocAuthors: number(
    'MAX_DOC_AUTHORS',
    16_384,
    1,
    CHECK_LIMITS.authors,
    'Authors of one board, of all times: every page load that edits is one. On a board that has had so many only they write: who brings another is closed with 4413. Their vector is 110 KB a handshake, and a client pays 4 ms for every update that it takes in.',
  ),
  maxMemoryBytes: shownAs(
    '75 % of the machine’s or container’s',
    number(
      'MAX_MEMORY_BYTES',
      Math.floor(memoryBytes() * 0.75),
      64 * MiB,
      2 ** 50,
      'Resident memory above which no new client is let in (1013), `/readyz` is red, and the server lets go: empty rooms, clients that do not keep up, the largest rooms.',
    ),
  ),
  maxConnections: number('MAX_CONNECTIONS', 20_000, 1, 10_000_000, 'Open sockets; one more is closed with 1013.'),
  maxConnectionsPerIp: number(
    'MAX_CONNECTIONS_PER_IP',
    200,
    1,
    10_000_000,
    'Open sockets per client address (IPv6: per /64).',
  ),
  maxRooms: number('MAX_ROOMS', 20_000, 1, 10_000_000, 'Rooms in memory.'),
  maxRoomsPerIp: number(
    'MAX_ROOMS_PER_IP',
    400,
    1,
    10_000_000,
    'Rooms in memory that one address (with tokens: one subject) brought in: as many as it may have sockets, and as many that were just left.',
  ),
  maxPresenceIdsPerConnection: number(
    'MAX_PRESENCE_IDS_PER_CONNECTION',
    8,
    1,
    1024,
    'Presence ids one connection may own; several tabs of one browser share one.',
  ),
  maxPresenceBytes: number(
    'MAX_PRESENCE_BYTES',
    16 * KiB,
    16,
    65_000,
    'Largest presence state; a larger one is refused.',
  ),
  trustedProxyHops: number(
    'TRUSTED_PROXY_HOPS',
    0,
    0,
    16,
    'Reverse proxies in front; the client address is then read from `X-Forwarded-For`.',
  ),
  allowedOrigins: text(
    'ALLOWED_ORIGINS',
    '',
    'Comma-separated origins that may connect, those of apps (`tauri://localhost`, `capacitor://localhost`) among them. Empty: same host and loopback; any once keys are set. Clients without an Origin are accepted.',
  ),
  frameAncestors: text(
    'FRAME_ANCESTORS',
    '',
    "Space-separated origins whose pages may embed the whiteboard, `'self'` among them. Empty: none.",
  ),
  publicUrl: text(
    'PUBLIC_URL',
    '',
    'Address at which people reach the page, as https://board.example.org: previews of a link show its picture only with it.',
  ),
  demoPanel: choice(
    'DEMO_PANEL',
    'off',
    ['on', 'off'],
    'Whether the page shows the weir panel with its ways to make trouble. Off: only with `?weir=1` in the address.',
  ),
  authJwtSecret: text('AUTH_JWT_SECRET', '', 'HS256 secret for access tokens.'),
  authJwksUrl: text('AUTH_JWKS_URL', '', 'URL of the key set for access tokens.'),
  authPublicKeyFile: text('AUTH_PUBLIC_KEY_FILE', '', 'PEM public key for access tokens.'),
  authReadOnlyCursors: choice(
    'AUTH_READ_ONLY_CURSORS',
    'on',
    ['on', 'off'],
    'Whether read-only clients may show a cursor.',
  ),
  adminToken: text('ADMIN_TOKEN', '', 'Bearer token that opens `/admin/…`. Empty: off.'),
  tlsCertFile: text('TLS_CERT_FILE', '', 'PEM certificate chain; serves TLS together with the next.'),
  tlsKeyFile: text('TLS_KEY_FILE', '', 'PEM private key.'),
  metricsPort: number(
    'METRICS_PORT',
    0,
    0,
    65_535,
    'A port of its own, on `HOST`, for `/metrics`, `/healthz` and `/readyz`; `/metrics` is then there alone. It takes HTTP/1.0 as well. 0: none.',
  ),
  metricsToken: text('METRICS_TOKEN', '', 'Bearer token that `/metrics` asks for. Empty: open.'),
  redisUrl: text('REDIS_URL', '', 'Redis that joins several nodes. Not available yet.'),
  shutdownGraceMs: number(
    'SHUTDOWN_GRACE_MS',
    8000,
    0,
    600_000,
    'Time from SIGTERM to exit; below the 10 s after which container runtimes kill.',
  ),
  logLevel: choice(
    'LOG_LEVEL',
    'info',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'Least severe log lines written.',
  ),
  maxLogLinesPerSecond: number(
    'LOG_MAX_LINES_PER_S',
    10,
    1,
    1_000_000,
    'Log lines of one event written per second, after ten seconds’ worth at once; the rest is left out and counted. Errors are always written. Ten show what goes on; a crowd that is refused would write thousands.',
  ),
} as const

type Value<S> = S extends { readonly kind: 'number' }
  ? number
  : S extends { readonly oneOf: readonly (infer V)[] }
    ? V
    : string

/** A value for every setting. */
export type Config = { readonly [Name in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[Name]> }
