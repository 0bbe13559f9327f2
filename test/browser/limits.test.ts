import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import * as Y from 'yjs'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { agree, inPage, openBoard, test, untilInPage, useBrowser } from './browser.ts'

useBrowser()

test('the first load is under 100 KB compressed: page, script, styles and the Latin typeface', () => {
  const demo = new URL('../../dist/demo/', import.meta.url)
  const read = (path: string) => readFileSync(new URL(path, demo))
  const asked = [
    ...read('index.html')
      .toString()
      .matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g),
  ].map(([, path]) => path!)
  const font = readdirSync(new URL('assets/', demo)).find((name) => name.startsWith('figtree-latin-400'))!
  const files = ['index.html', 'favicon.svg', ...asked, `assets/${font}`]
  expect(files).toHaveLength(5)
  const size = files.reduce((sum, path) => sum + gzipSync(read(path)).length, 0)
  expect(size).toBeLessThan(100 * 1024)
})

test('500 shapes dragged for 60 steps grow the board by less than 60 KB', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'growth')
  const other = stockClient(t, server.url, 'growth')
  await inPage(page, ({ board }) => {
    board.create(
      Array.from({ length: 500 }, (_, i) => ({
        kind: 'rect',
        box: [(i % 25) * 18 - 220, Math.floor(i / 25) * 14 - 140, 12, 8, 0],
        color: 'blue',
        fill: 'solid',
        width: 2,
      })),
    )
  })
  await other.synced()
  await expect.poll(() => other.doc.getMap('shapes').size, { timeout: 10_000 }).toBe(500)
  const before = Y.encodeStateAsUpdate(other.doc).length
  await page.keyboard.press('v')
  await page.keyboard.press('Control+a')
  await page.mouse.move(600, 400)
  await page.mouse.down()
  for (let i = 1; i <= 60; i++) await page.mouse.move(600 + i * 3, 400 + i * 2)
  await page.mouse.up()
  const first = () => (other.doc.getMap('shapes').values().next().value as Y.Map<number[]>).get('box')![0]
  await expect.poll(first, { timeout: 10_000 }).toBe(-40)
  const grown = Y.encodeStateAsUpdate(other.doc).length - before
  console.info(`grown by ${grown} bytes from ${before}`)
  expect(grown).toBeLessThan(60 * 1024)
})

test('hostile boards and presence are shown as text or not at all', async (t) => {
  const server = await startServer(t)
  const foreign: string[] = []
  const page = await openBoard(t, server.httpUrl, 'hostile')
  page.on('request', (request) => {
    if (!request.url().startsWith(server.httpUrl)) foreign.push(request.url())
  })
  const attacker = stockClient(t, server.url, 'hostile')
  await attacker.synced()
  const root = attacker.doc.getMap<unknown>('shapes')
  const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
  const bomb = new Uint8Array(40)
  bomb.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  bomb.set([0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff], 16)
  const box = [0, 0, 100, 100, 0]
  const bad: Record<string, unknown> = {
    notAMap: 5,
    unknownKind: { kind: 'script', box },
    infinite: { kind: 'rect', box: [Number.NaN, 0, Number.POSITIVE_INFINITY, 1, 0] },
    huge: { kind: 'rect', box: [1e300, 0, 1, 1, 0] },
    shortBox: { kind: 'rect', box: [1] },
    svgImage: { kind: 'image', box, image: svg },
    remoteImage: { kind: 'image', box, image: 'https://evil.example/x.png' },
    'bad id"><img src=x>': { kind: 'rect', box },
  }
  const odd: Record<string, unknown> = {
    color: { kind: 'rect', box, color: 'url(https://evil.example/)', width: Number.NaN, order: '\u0000bad', fill: 7 },
    bomb: { kind: 'image', box, image: bomb },
    markup: { kind: 'note', box, text: new Y.Text('<img src=x onerror=alert(1)>'), size: 1e9 },
    points: { kind: 'pen', box, points: Y.Array.from([[0, 0, 0, 'x', {}, null], 'nonsense']) },
  }
  attacker.doc.transact(() => {
    for (const [id, fields] of Object.entries({ ...bad, ...odd })) {
      if (typeof fields !== 'object') root.set(id, fields)
      else root.set(id, new Y.Map(Object.entries(fields as object)))
    }
  })
  attacker.awareness.setLocalState({
    name: '<b>Mallory</b>',
    color: 'red;background:url(https://evil.example/)',
    cursor: [10, 10],
    selection: ['x', 5, '"><script>'],
    preview: { is: 'transform', how: { op: 'scale', sx: 1e9, sy: {}, x: 0, y: 0, angle: 0 } },
    reaction: { glyph: 999, n: 1, x: 0, y: 0 },
    view: ['a', 0, 0],
  })
  await untilInPage(page, ({ board, presence }) => board.shapes.size === 4 && presence.others.size === 1)
  await page.click('.roster-button')
  await page.waitForSelector('.person-name:text("<b>Mallory</b>")')
  await page.keyboard.press('Escape')
  await page.keyboard.press('b')
  await page.waitForTimeout(600)
  expect(await page.evaluate(`document.querySelectorAll('b, img, script:not([src])').length`)).toBe(0)
  expect(foreign).toEqual([])
  expect(page.complaints).toEqual([])
  // The board is still usable.
  await inPage(page, ({ board }) => {
    board.create([{ kind: 'rect', box: [0, 0, 10, 10, 0], color: 'ink' }])
  })
  await untilInPage(page, ({ board }) => board.shapes.size === 5)
})

test('images that are too large or no pictures are refused in words, and nothing lands on the board', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'refused-images')
  const folder = await mkdtemp(join(tmpdir(), 'y-weir-images-'))
  t.onTestFinished(() => rm(folder, { recursive: true }))
  // By its path: 41 MB would take long through the browser's remote control.
  const choose = async (name: string, buffer: Buffer) => {
    await writeFile(join(folder, name), buffer)
    const chooser = page.waitForEvent('filechooser')
    await page.click('.tool[data-tool="image"]')
    await (await chooser).setFiles(join(folder, name))
  }
  await choose('large.png', Buffer.alloc(41 * 1024 * 1024))
  await page.waitForSelector('.toast-warning:has-text("up to 40 MB")')
  await choose('drawing.png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))
  await page.waitForSelector('.toast-warning:has-text("Only PNG, JPEG, WebP and GIF")')
  expect(await inPage(page, ({ board }) => board.shapes.size)).toBe(0)
})

test('exports: JSON comes back as the same objects, SVG and PNG are what they say', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'export')
  await inPage(a, ({ board }) => {
    board.create([
      { kind: 'note', box: [0, 0, 184, 184, 0.1], color: 'yellow', size: 20, text: '<&> "quoted"' },
      { kind: 'pen', box: [200, 0, 40, 30, 0], color: 'red', width: 4, points: [0, 0, 0, 20, 30, 0, 40, 10, 0] },
      { kind: 'arrow', box: [0, 200, 100, -50, 0], color: '#12ab34', width: 3 },
    ])
  })
  const save = async (label: string) => {
    await a.click('button[aria-label="Menu"]')
    const download = a.waitForEvent('download')
    await a.click(`.menu-item:has-text("${label}")`)
    return readFileSync((await (await download).path())!)
  }
  const json = await save('Export as JSON')
  const svg = (await save('Export as SVG')).toString()
  expect(svg).toContain('&lt;&amp;&gt;')
  expect(svg.startsWith('<svg')).toBe(true)
  expect((await save('Export as PNG')).subarray(1, 4).toString()).toBe('PNG')

  const b = await openBoard(t, server.httpUrl, 'import')
  const chooser = b.waitForEvent('filechooser')
  await b.click('button[aria-label="Menu"]')
  await b.click('.menu-item:has-text("Import JSON")')
  await (await chooser).setFiles({ name: 'board.json', mimeType: 'application/json', buffer: json })
  await untilInPage(b, ({ board }) => board.shapes.size === 3)
  const plain = (page: typeof a) =>
    inPage(page, ({ board }) =>
      board.ordered().map(({ kind, box, text, color, points }) => JSON.stringify([kind, box, text, color, points])),
    )
  expect(await plain(b)).toEqual(await plain(a))
})

test('[IN2] a flood of 2 000 edits from the weir panel arrives everywhere, and the counters are seen to move', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'flood', { weir: true })
  const b = await openBoard(t, server.httpUrl, 'flood')
  await a.keyboard.press('w')
  await a.click('button[aria-label="Flood with 2,000 edits"]')
  await untilInPage(b, ({ board }) => [...board.shapes.values()][0]?.points.length === 6_000)
  await agree(a, b, 1)
  await a.waitForSelector('.figures dt:text("Messages received")')
  expect(a.complaints).toEqual([])
})
