/**
 * Longest request head taken when it comes in several pieces, bytes: a token of 8 KB and what browsers and proxies add. The
 * default of 4 KiB answers longer ones with 431, which a stock client retries for ever; in one piece they pass either way.
 * A connection that sends a head slowly holds up to this much.
 */
const MAX_HEAD_BYTES = 16_384

// uWS reads this once, while its module is loaded: this file has to be imported before it.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(MAX_HEAD_BYTES)
