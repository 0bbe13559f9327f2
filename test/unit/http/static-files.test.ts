import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { frameAncestorMistakes, pagePolicy } from '../../../src/http/page-policy.ts'
import type { HttpResponse } from '../../../src/http/response.ts'
import { loadStaticFiles, type StaticFiles } from '../../../src/http/static-files.ts'

const PAGE = '<!doctype html><title>board</title>'
const SCRIPT = `console.log(1)\n${'// a line that compresses well\n'.repeat(200)}`

let root: string
let files: StaticFiles

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'y-weir-static-'))
  const built = join(root, 'built')
  await mkdir(join(built, 'assets'), { recursive: true })
  await writeFile(join(root, 'secret.txt'), 'secret')
  await writeFile(join(built, 'index.html'), PAGE)
  await writeFile(join(built, 'assets', 'index-BxY_12-z.js'), SCRIPT)
  await writeFile(join(built, 'assets', 'a b.svg'), '<svg/>')
  await writeFile(join(built, '.env'), 'secret')
  await symlink(join(root, 'secret.txt'), join(built, 'link.txt'))
  await symlink(root, join(built, 'up'))
  files = await loadStaticFiles(built)
})

afterAll(() => rm(root, { recursive: true }))

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): HttpResponse {
  return files.respond(method, path, (name) => headers[name] ?? '')
}

const content = (response: HttpResponse) => Buffer.from(response.body).toString()

describe('the built page', () => {
  test('the root is the page, never cached without asking, and fenced by a policy', () => {
    const response = get('/')
    expect(response.status).toBe(200)
    expect(content(response)).toBe(PAGE)
    expect(response.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    expect(response.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
        "connect-src 'self' ws: wss:; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
    )
  })

  test('pages that may embed the board are named by the operator, and cannot say more than that', () => {
    expect(pagePolicy("https://wiki.example.org  'self'")).toContain(
      "; frame-ancestors https://wiki.example.org 'self'",
    )
    expect(frameAncestorMistakes("https://wiki.example.org https://*.example.org:8443 'self' localhost:8080")).toEqual(
      [],
    )
    for (const bad of ['*;script-src', "'unsafe-inline'", 'https://a.example/path', 'a,b', '*']) {
      expect(frameAncestorMistakes(bad), bad).toHaveLength(1)
    }
  })

  test('the picture of a link’s preview has the address that the operator names: programs that show one follow no relative ones', async () => {
    const directory = join(root, 'preview')
    await mkdir(directory)
    const html = '<head><meta property="og:image" content="./icon.png" /></head>'
    await writeFile(join(directory, 'index.html'), html)
    const shown = async (publicUrl?: string) => {
      const page = await loadStaticFiles(directory, publicUrl === undefined ? {} : { publicUrl })
      return content(page.respond('GET', '/', () => ''))
    }
    expect(await shown()).toBe(html)
    const board = 'content="https://board.example.org/icon.png"'
    expect(await shown('https://board.example.org')).toContain(board)
    expect(await shown('https://board.example.org/')).toContain(board)
    expect(await shown('https://example.org/draw')).toContain('content="https://example.org/draw/icon.png"')
    expect(await shown('https://example.org/"><b>')).not.toContain('<b>')
  })

  test('a file with a hash in its name is cached for good', () => {
    expect(get('/assets/index-BxY_12-z.js').headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(get('/assets/a%20b.svg').headers['cache-control']).toBe('no-cache')
  })

  test.each([
    ['br', 'gzip, deflate, br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip', 'br;q=0, gzip;q=0.5', gunzipSync],
  ])('%s for "%s"', (encoding, accept, decompress) => {
    const response = get('/assets/index-BxY_12-z.js', { 'accept-encoding': accept })
    expect(response.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' })
    expect(decompress(response.body as Uint8Array).toString()).toBe(SCRIPT)
  })

  test.each(['', 'identity', 'br;q=0', 'xbr', 'br;q=0.0, deflate'])('uncompressed for "%s"', (accept) => {
    const response = get('/assets/index-BxY_12-z.js', { 'accept-encoding': accept })
    expect(response.headers).not.toHaveProperty('content-encoding')
    expect(content(response)).toBe(SCRIPT)
  })

  test('a known etag is answered with 304, per encoding', () => {
    const plain = get('/assets/index-BxY_12-z.js').headers.etag!
    const brotli = get('/assets/index-BxY_12-z.js', { 'accept-encoding': 'br' }).headers.etag!
    expect(plain).not.toBe(brotli)
    const again = get('/assets/index-BxY_12-z.js', { 'if-none-match': `"other", W/${plain}` })
    expect(again).toMatchObject({ status: 304, headers: { etag: plain } })
    expect(again.body.length).toBe(6215)
    expect(get('/assets/index-BxY_12-z.js', { 'if-none-match': brotli }).status).toBe(200)
  })

  test('other methods are refused, HEAD is answered like GET', () => {
    expect(get('/', {}, 'HEAD')).toEqual(get('/'))
    expect(get('/', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })
})

test.each([
  '/../secret.txt',
  '/..%2fsecret.txt',
  '/%2e%2e/secret.txt',
  '/assets/../../secret.txt',
  '/assets/..%5c..%5csecret.txt',
  '//secret.txt',
  '/link.txt',
  '/up/secret.txt',
  '/.env',
  '/index.html%00.js',
  '/%',
  '/__proto__',
  '',
])('nothing outside the directory can be named: %s', (path) => {
  expect(get(path)).toMatchObject({ status: 404 })
  expect(content(get(path))).toBe('not found\n')
})

test('without a build every request is answered with how to make one', async () => {
  const none = await loadStaticFiles(join(root, 'nowhere'))
  expect(none.paths).toEqual([])
  const response = none.respond('GET', '/', () => '')
  expect(response.status).toBe(404)
  expect(response.body).toContain('npm run build')
})

test('a directory that is no built page is refused instead of read into memory', async () => {
  const heavy = join(root, 'heavy')
  await mkdir(heavy)
  await writeFile(join(heavy, 'big.bin'), Buffer.alloc(64 * 1024 * 1024 + 1))
  await expect(loadStaticFiles(heavy)).rejects.toThrow('not a built page')
})
