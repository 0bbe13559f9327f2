import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { pagePolicy } from './page-policy.ts'
import { bytes, type HttpResponse, methodNotAllowed, text } from './response.ts'

/**
 * The built whiteboard page, read into memory once at start.
 *   directory ──load──▶ path → file (plain, br, gzip) ──request──▶ HttpResponse
 * A request is a look-up in that table, so no path can name anything that was not in the directory at start: there is no
 * file system behind it to escape into.
 */
export interface StaticFiles {
  /** Paths that can be asked for, in order; empty when the page was not built. */
  readonly paths: readonly string[]
  /**
   * Answers one request. `path` is the URL's path as it came (percent-encoded, without the query); `header` gives a
   * request header by its lower-case name, or an empty text.
   */
  respond(method: string, path: string, header: (name: string) => string): HttpResponse
}

export interface PageOptions {
  /** The setting `FRAME_ANCESTORS`, already checked. */
  readonly frameAncestors?: string
  /** The setting `PUBLIC_URL`, an http or https address or empty: what is read by programs that follow no relative ones. */
  readonly publicUrl?: string
  /** The setting `DEMO_PANEL`: the page is told by a meta element to show the weir panel to everybody. */
  readonly panel?: boolean
  /** The setting `MAX_DOC_BYTES`, so that the page can say when a board is nearly full. */
  readonly maxBoardBytes?: number
}

interface Variant {
  readonly body: Uint8Array
  readonly etag: string
}

interface StaticFile {
  readonly contentType: string
  readonly cacheControl: string
  readonly plain: Variant
  readonly br: Variant | null
  readonly gzip: Variant | null
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
}

/** Already compressed, or too rare to care. */
const INCOMPRESSIBLE = new Set(['.gif', '.jpeg', '.jpg', '.png', '.webp', '.woff', '.woff2'])

/** The build puts a hash of the content into these names, so their content never changes. */
const HASHED_NAME = /^\/assets\/[^/]+-[\w-]{8,}\.\w+(\.map)?$/

/** Below this a compressed variant saves no packet. */
const WORTH_COMPRESSING_BYTES = 1024

/**
 * The page is built by this project and weighs well under a megabyte: more than this means the setting names a wrong
 * directory, and reading, say, `/` into memory must not be the consequence.
 */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024
const MAX_FILES = 2000

const NOT_BUILT =
  'The whiteboard page is not built. Run "npm run build" and start again. The sync server itself works without it.'

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/**
 * Reads every regular file below `directory`, except hidden ones; symbolic links are not followed. A directory that is
 * not there is no error: every request is then answered with 404 and how to build the page. Rejects when the directory
 * cannot be read or holds more than 64 MiB or 2 000 files.
 */
export async function loadStaticFiles(directory: string, options: PageOptions = {}): Promise<StaticFiles> {
  const policy = pagePolicy(options.frameAncestors)
  const files = new Map<string, StaticFile>()
  let total = 0
  for (const path of await listFiles(directory)) {
    total += (await stat(join(directory, path))).size
    if (total > MAX_TOTAL_BYTES || files.size >= MAX_FILES) {
      throw new Error(`${directory} holds more than ${MAX_TOTAL_BYTES} bytes or ${MAX_FILES} files: not a built page`)
    }
    const content = await readFile(join(directory, path))
    files.set(path, await makeFile(path, path === '/index.html' ? withFacts(content, options) : content))
  }
  const index = files.get('/index.html')
  if (index) files.set('/', index)

  return {
    paths: [...files.keys()],
    respond(method, path, header) {
      const file = files.get(decodePath(path))
      if (!file) return index ? text(404, 'not found') : text(404, NOT_BUILT)
      if (method !== 'GET' && method !== 'HEAD') return methodNotAllowed(['GET', 'HEAD'])
      return answer(file, policy, header)
    },
  }
}

/** Put where the page looks for it (client-demo: weir/shown.ts, line/board-size.ts). */
function withFacts(html: Buffer, { publicUrl = '', panel = false, maxBoardBytes = 0 }: PageOptions): Buffer {
  const facts: Array<[name: string, content: string]> = []
  if (panel) facts.push(['y-weir-panel', 'on'])
  if (maxBoardBytes > 0) facts.push(['y-weir-max-board-bytes', String(maxBoardBytes)])
  const elements = facts.map(([name, content]) => `<meta name="${name}" content="${content}">`).join('')
  const page = html.toString().replace('<head>', `<head>${elements}`)
  if (publicUrl === '') return Buffer.from(page)
  const absolute = (address: string) =>
    new URL(address, `${publicUrl.replace(/\/*$/, '')}/`).href.replaceAll('&', '&amp;')
  return Buffer.from(
    page.replace(
      /(<meta property="og:image" content=")([^"]*)/,
      (_, start: string, path: string) => start + absolute(path),
    ),
  )
}

function answer(file: StaticFile, policy: string, header: (name: string) => string): HttpResponse {
  const { encoding, variant } = choose(file, header('accept-encoding'))
  const headers: Record<string, string> = {
    'cache-control': file.cacheControl,
    'content-security-policy': policy,
    etag: variant.etag,
  }
  if (file.br || file.gzip) headers.vary = 'accept-encoding'
  if (matches(header('if-none-match'), variant.etag)) return bytes(304, variant.body, file.contentType, headers)
  if (encoding) headers['content-encoding'] = encoding
  return bytes(200, variant.body, file.contentType, headers)
}

function choose(file: StaticFile, acceptEncoding: string): { encoding: 'br' | 'gzip' | null; variant: Variant } {
  if (file.br && accepts(acceptEncoding, 'br')) return { encoding: 'br', variant: file.br }
  if (file.gzip && accepts(acceptEncoding, 'gzip')) return { encoding: 'gzip', variant: file.gzip }
  return { encoding: null, variant: file.plain }
}

/** Whether an Accept-Encoding header names `coding` with a weight above zero. `*` is not taken as a yes: nobody needs it. */
function accepts(acceptEncoding: string, coding: string): boolean {
  return acceptEncoding.split(',').some((entry) => {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

function matches(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((entry) => {
    const candidate = entry.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === etag
  })
}

async function listFiles(directory: string): Promise<string[]> {
  const found: string[] = []
  async function walk(below: string): Promise<void> {
    for (const entry of await readdir(join(directory, below), { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue
      const path = `${below}/${entry.name}`
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile()) found.push(path)
      if (found.length > MAX_FILES) return
    }
  }
  try {
    await walk('')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return found.sort()
}

async function makeFile(path: string, body: Uint8Array): Promise<StaticFile> {
  const extension = extname(path).toLowerCase()
  const worthIt = body.length >= WORTH_COMPRESSING_BYTES && !INCOMPRESSIBLE.has(extension)
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  const smaller = (compressed: Uint8Array, suffix: string): Variant | null =>
    compressed.length < body.length ? { body: compressed, etag: `"${hash}-${suffix}"` } : null
  return {
    contentType: CONTENT_TYPES[extension] ?? 'application/octet-stream',
    cacheControl: HASHED_NAME.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    plain: { body, etag: `"${hash}"` },
    // Quality 9 instead of 11: within 3 % of the size in a tenth of the time, and the start waits for it.
    br: worthIt ? smaller(await compressBrotli(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } }), 'br') : null,
    gzip: worthIt ? smaller(await compressGzip(body, { level: 9 }), 'gz') : null,
  }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}
