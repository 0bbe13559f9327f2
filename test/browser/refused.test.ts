import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, type TestContext } from 'vitest'
import { WebSocketServer } from 'ws'
import { drag, lineIs, openBoard, test, useBrowser } from './browser.ts'

useBrowser()

const DEMO = new URL('../../dist/demo/', import.meta.url).pathname
const TYPES: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  webmanifest: 'application/manifest+json',
  png: 'image/png',
}

/** Serves the page, and closes every socket with one code. */
async function refusingServer(t: TestContext, code: number, tokenUrl: string | null = null) {
  const tokens: string[] = []
  const http = createServer((request, response) => {
    const path = new URL(request.url!, 'http://page').pathname
    if (path === '/token') {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ token: `t${tokens.length}` }))
      return
    }
    const file = path === '/' ? 'index.html' : path.slice(1)
    let body = readFileSync(join(DEMO, file))
    if (path === '/' && tokenUrl) {
      body = Buffer.from(
        body.toString().replace('<head>', `<head><meta name="y-weir-token-url" content="${tokenUrl}">`),
      )
    }
    response.setHeader('content-type', TYPES[file.split('.').at(-1)!]!).end(body)
  })
  const sockets = new WebSocketServer({ server: http })
  sockets.on('connection', (socket, request) => {
    tokens.push(new URL(request.url!, 'http://page').searchParams.get('token') ?? '')
    socket.close(code, 'refused')
  })
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
  t.onTestFinished(() => {
    sockets.close()
    http.closeAllConnections()
    http.close()
  })
  return { httpUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, tokens }
}

test('a refused token is told in plain words and not tried again', async (t) => {
  const { httpUrl, tokens } = await refusingServer(t, 4401)
  const page = await openBoard(t, httpUrl, 'private', { connected: false })
  await lineIs(page, 'refused')
  expect(await page.textContent('.banner strong')).toBe('You have no access to this board')
  await page.waitForTimeout(1_500)
  expect(tokens).toHaveLength(1)
  await page.click('.banner >> text=Try again')
  await page.waitForSelector('.banner:not([hidden])')
  await expect.poll(() => tokens.length).toBe(2)
})

test('with a token endpoint one fresh token is tried after a refusal, then it is final', async (t) => {
  const { httpUrl, tokens } = await refusingServer(t, 4401, '/token')
  const page = await openBoard(t, httpUrl, 'private', { connected: false })
  await lineIs(page, 'refused')
  await page.waitForTimeout(1_500)
  expect(tokens).toEqual(['t0', 't1'])
})

test('the token in the address goes to the server and leaves the address bar', async (t) => {
  const { httpUrl, tokens } = await refusingServer(t, 4403)
  const page = await openBoard(t, httpUrl, 'private', { connected: false })
  await page.goto('about:blank')
  await page.goto(`${httpUrl}/?room=private#token=abc.def`)
  await lineIs(page, 'refused')
  expect(tokens.at(-1)).toBe('abc.def')
  expect(page.url()).not.toContain('abc.def')
  expect(await page.textContent('.banner strong')).toBe('You may not open this board')
  // A reload keeps the access; the address bar and other tabs never had it.
  await page.reload()
  await lineIs(page, 'refused')
  expect(tokens.slice(-2)).toEqual(['abc.def', 'abc.def'])
})

test('without a store on the device, another writer under one’s number has a way out that is true', async (t) => {
  const { httpUrl } = await refusingServer(t, 4409)
  const page = await openBoard(t, httpUrl, 'twin', { connected: false })
  await page.addInitScript(`Object.defineProperty(window, 'indexedDB', { value: undefined })`)
  await page.reload()
  await page.keyboard.press('r')
  await drag(page, [500, 300], [600, 360])
  await lineIs(page, 'refused')
  await page.click('.banner >> text=Try again')
  await page.waitForSelector('.banner:not([hidden]) p:has-text("Export the board, reload")')
  const download = page.waitForEvent('download')
  await page.click('.banner button:has-text("Export")')
  expect(readFileSync((await (await download).path())!).toString()).toContain('"rect"')
})

test.for([4400, 4410, 4413, 4422])('close %i has words of its own', async (code, t) => {
  const { httpUrl } = await refusingServer(t, code)
  const page = await openBoard(t, httpUrl, 'private', { connected: false })
  await lineIs(page, 'refused')
  expect(await page.textContent('.banner p')).not.toContain(String(code))
})
