import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { SECRET, token } from '../support/access.ts'
import { freePort } from '../support/free-port.ts'
import { startServer } from '../support/start-server.ts'
import { agree, drag, inPage, lineIs, openBoard, shapesOf, test, untilInPage, useBrowser } from './browser.ts'
import { lineSwitch } from './line-switch.ts'

useBrowser()

const ADMIN = { authorization: 'Bearer admin-of-this-test' }

test('a reload without the server shows page and board; what is drawn then arrives on return', async (t) => {
  const first = await startServer(t, { port: await freePort() })
  const a = await openBoard(t, first.httpUrl, 'kept', { serviceWorkers: 'allow' })
  expect(await a.evaluate(`navigator.serviceWorker.ready.then((r) => r.active !== null)`)).toBe(true)
  await a.keyboard.press('p')
  await drag(a, [400, 200], [600, 240])
  await first.close()
  await lineIs(a, 'offline', 'restarting')
  a.on('dialog', (dialog) => void dialog.accept())
  await a.reload()
  await untilInPage(a, ({ board }) => board.shapes.size === 1)
  await a.keyboard.press('p')
  await drag(a, [400, 300], [600, 340])
  expect(await a.textContent('.pill-label')).toMatch(/^Offline · [12] changes? not sent yet$/)
  await startServer(t, { port: first.port })
  await lineIs(a, 'connected')
  const b = await openBoard(t, first.httpUrl, 'kept')
  await agree(a, b, 2)
  expect(await a.evaluate(`fetch('./app.webmanifest').then((r) => r.json()).then((m) => m.icons.length)`)).toBe(4)
  expect(a.complaints).toEqual([])
})

test('a newer page is told and shown by the next reload, with what the operator set; nothing is lost', async (t) => {
  const demo = new URL('../../dist/demo/', import.meta.url)
  const script = /assets\/(index-[\w-]+)\.js/.exec(readFileSync(new URL('index.html', demo)).toString())![1]!
  let newer = false
  let down = false
  const http = createServer((request, response) => {
    if (down) {
      response.writeHead(502).end('the server is away')
      return
    }
    const path = new URL(request.url!, 'http://page').pathname
    const name = path === '/' ? 'index.html' : path.slice(1).replace('index-newer-page', script)
    let body = readFileSync(new URL(name, demo))
    // The newer one differs in the name of its script, as any that is built from other sources does.
    if (newer && /^(index\.html|sw\.js)$/.test(name)) {
      let text = body.toString().replaceAll(script, 'index-newer-page')
      if (name === 'sw.js')
        text = text.replace(/(url:"index\.html",revision:")\w+|(revision:")\w+(",url:"index\.html")/, '$1$2newer$3')
      else text = text.replace('<head>', '<head><meta name="y-weir-panel" content="on">')
      body = Buffer.from(text)
    }
    const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }
    response.setHeader('content-type', types[name.split('.').at(-1)!] ?? 'application/octet-stream').end(body)
  }).listen(0, '127.0.0.1')
  // No room is served here: the page is offline all the while.
  http.on('upgrade', (_request, socket) => socket.destroy())
  await once(http, 'listening')
  t.onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const page = await openBoard(t, `http://127.0.0.1:${(http.address() as AddressInfo).port}`, 'newer', {
    serviceWorkers: 'allow',
    connected: false,
  })
  page.on('dialog', (dialog) => void dialog.accept())
  const shown = () => page.evaluate(`document.querySelector('script[src]').getAttribute('src')`)
  await page.evaluate(`navigator.serviceWorker.ready.then(() => true)`)
  await page.keyboard.press('r')
  await drag(page, [500, 300], [600, 360])
  await page.reload()
  expect(await page.$$('.toast')).toHaveLength(0)
  newer = true
  await page.evaluate(`navigator.serviceWorker.ready.then((registration) => registration.update()).then(() => true)`)
  await page.waitForSelector('.toast:has-text("A newer version of this page is here")')
  expect(await shown()).toContain(script)
  expect(await shapesOf(page)).toHaveLength(1)
  await page.reload()
  expect(await shown()).toContain('index-newer-page')
  await page.waitForSelector('[data-command="weir"]', { state: 'attached' })
  await untilInPage(page, ({ board }) => board.shapes.size === 1)
  // A proxy that answers for a server which is away is no page either.
  down = true
  await page.reload()
  expect(await shown()).toContain('index-newer-page')
  await untilInPage(page, ({ board }) => board.shapes.size === 1)
})

test('on a protected board the copied link says that it lets nobody in, and holds no token', async (t) => {
  const server = await startServer(t, { authJwtSecret: SECRET })
  const member = await token({ rooms: ['members'] })
  const page = await openBoard(t, server.httpUrl, 'members', { connected: false, permissions: ['clipboard-read'] })
  await page.goto('about:blank')
  await page.goto(`${server.httpUrl}/?room=members#token=${member}`)
  await lineIs(page, 'connected')
  await page.click('.room-button')
  await page.waitForSelector('.toast:has-text("whoever opens it needs an invitation of their own")')
  const link = (await page.evaluate(`navigator.clipboard.readText()`)) as string
  expect(link).toBe(`${server.httpUrl}/?room=members`)
  const guest = await openBoard(t, server.httpUrl, 'members', { connected: false })
  await guest.waitForSelector('.banner strong:has-text("You have no access to this board")')
  // A reload keeps the member's access.
  await page.reload()
  await lineIs(page, 'connected')
})

test('a deleted board says so, takes nothing more, and is saved as a new one', async (t) => {
  const server = await startServer(t, { adminToken: 'admin-of-this-test' })
  const a = await openBoard(t, server.httpUrl, 'deleted')
  await a.keyboard.press('r')
  await drag(a, [500, 300], [600, 360])
  await untilInPage(a, ({ connection }) => connection.unsent.count.value === 0)
  await fetch(`${server.httpUrl}/admin/rooms/deleted`, { method: 'DELETE', headers: ADMIN })
  await a.waitForSelector('.banner[data-code="4410"]:not([hidden])')
  expect(await inPage(a, ({ board }) => board.readOnly)).toBe(true)
  const download = a.waitForEvent('download')
  await a.click('.banner button:has-text("Export")')
  expect(readFileSync((await (await download).path())!).toString()).toContain('"rect"')
  await a.click('.banner button:has-text("Save as a new board")')
  await a.waitForURL(/room=(?!deleted)/)
  await lineIs(a, 'connected')
  await untilInPage(a, ({ board, connection }) => board.shapes.size === 1 && connection.unsent.count.value === 0)
  const room = new URL(a.url()).searchParams.get('room')!
  expect(room).toMatch(/-[a-km-np-z2-9]{13}$/)
  const b = await openBoard(t, server.httpUrl, room)
  await agree(a, b, 1)
})

test('a full board keeps what was drawn, has a way on, and takes the rest when something was deleted', async (t) => {
  const server = await startServer(t, { maxDocBytes: 64 * 1024 })
  const a = await openBoard(t, server.httpUrl, 'full')
  const b = await openBoard(t, server.httpUrl, 'full')
  await inPage(a, ({ board }) => {
    for (let i = 0; i < 40; i++) {
      const points = Array.from({ length: 3_000 }, (_, j) => (j % 3 === 2 ? 0 : Math.sin(i + j) * 300))
      board.create([{ kind: 'pen', box: [50_000, i * 10, 0, 0, 0], color: 'ink', width: 2, points }])
    }
  })
  await a.waitForSelector('.banner[data-code="4413"]:not([hidden])')
  expect(await shapesOf(a)).toHaveLength(40)
  for (const words of ['Try again', 'Save as a new board', 'Export'])
    expect(await a.isVisible(`.banner button:has-text("${words}")`)).toBe(true)
  // What others have and what only this page has are deleted alike; the rest then fits, without anybody's help.
  await inPage(a, ({ board }) => board.remove(board.ordered().flatMap(({ id }, i) => (i % 10 === 0 ? [] : [id]))))
  await lineIs(a, 'connected')
  await agree(a, b, 4)
  await untilInPage(a, ({ connection }) => connection.unsent.count.value === 0)
})

test('at 80 % of a board’s size it is said, once, before anything is refused', async (t) => {
  const server = await startServer(t, { maxDocBytes: 64 * 1024 })
  const page = await openBoard(t, server.httpUrl, 'nearly')
  await inPage(page, ({ board }) => {
    for (let i = 0; i < 11; i++) {
      board.create([
        { kind: 'text', box: [50_000, i * 10, 90, 90, 0], color: 'ink', size: 20, text: 'w '.repeat(2_480) },
      ])
    }
  })
  const toast = await page.waitForSelector('.toast-warning')
  expect(await toast.textContent()).toMatch(/^This board is 8\d % full/)
  await inPage(page, ({ board }) => {
    board.create([{ kind: 'rect', box: [50_000, 0, 90, 90, 0], color: 'ink', width: 2 }])
  })
  await page.waitForTimeout(800)
  expect(await page.$$('.toast-warning')).toHaveLength(1)
  await lineIs(page, 'connected')
})

test('without a store on the device the pill says so, and a board is blank only when it is known to be', async (t) => {
  const server = await startServer(t)
  const line = await lineSwitch(t, server.port)
  const b = await openBoard(t, server.httpUrl, 'unknown')
  await b.keyboard.press('r')
  await drag(b, [500, 300], [600, 360])
  line.cut()
  const a = await openBoard(t, line.httpUrl, 'unknown', { connected: false })
  await a.addInitScript(`Object.defineProperty(window, 'indexedDB', { value: undefined })`)
  await a.reload()
  await lineIs(a, 'offline')
  await a.waitForSelector('.empty-title:text("The board is not here yet")')
  expect(await a.getAttribute('.pill', 'title')).toContain('Keep this tab open')
  // Two strokes are two changes, however many messages they were.
  await a.keyboard.press('p')
  for (const y of [400, 500]) await drag(a, [400, y], [700, y + 40], 30)
  expect(await a.textContent('.pill-label')).toBe('Offline · 2 changes not sent yet')
  line.restore()
  await lineIs(a, 'connected')
  await agree(a, b, 3)
  const blank = await openBoard(t, server.httpUrl, 'really-blank')
  await blank.waitForSelector('.empty-title:text("A blank board")')
  expect(a.complaints).toEqual([])
})

test('the weir panel is not for guests to find; the page may be embedded where the operator says so', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'guest')
  await page.keyboard.press('w')
  expect(await page.$('.weir-drawer')).toBeNull()
  expect((await fetch(server.httpUrl)).headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  const shown = await startServer(t, { demoPanel: 'on', frameAncestors: "https://wiki.example.org 'self'" })
  const other = await openBoard(t, shown.httpUrl, 'guest')
  await other.keyboard.press('w')
  expect(await other.isVisible('.weir-drawer')).toBe(true)
  const policy = (await fetch(shown.httpUrl)).headers.get('content-security-policy')
  expect(policy).toContain("frame-ancestors https://wiki.example.org 'self'")
})

test('what bots drew goes with the tab they came from', async (t) => {
  const server = await startServer(t)
  const crowd = await openBoard(t, server.httpUrl, 'bots', { weir: true })
  const page = await openBoard(t, server.httpUrl, 'bots')
  await inPage(crowd, ({ trouble }) => trouble.addBots(3))
  await untilInPage(page, ({ board }) => board.shapes.size >= 3)
  await crowd.goto('about:blank')
  await untilInPage(page, ({ board }) => board.shapes.size === 0)
})
