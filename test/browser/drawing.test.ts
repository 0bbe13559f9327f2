import { expect } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { agree, drag, inPage, openBoard, shapesOf, test, untilInPage, useBrowser } from './browser.ts'

useBrowser()

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==',
  'base64',
)

test('two windows draw with every tool and end with the same objects', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'tools', { name: 'Ada' })
  const b = await openBoard(t, server.httpUrl, 'tools', { name: 'Ben' })
  for (const [page, dy] of [
    [a, 0],
    [b, 260],
  ] as const) {
    await page.keyboard.press('p')
    await drag(page, [320, 200 + dy], [420, 260 + dy], 20)
    for (const [i, key] of ['r', 'o', 'l', 'a'].entries()) {
      await page.keyboard.press(key)
      await drag(page, [460 + i * 120, 200 + dy], [550 + i * 120, 270 + dy])
    }
    await page.keyboard.press('n')
    await page.mouse.click(1020, 240 + dy)
    await page.keyboard.type('Grüße 👋')
    await page.keyboard.press('Escape')
    await page.keyboard.press('t')
    await page.mouse.click(340, 330 + dy)
    await page.keyboard.type('plain words')
    await page.keyboard.press('Escape')
    const chooser = page.waitForEvent('filechooser')
    await page.click('.tool[data-tool="image"]')
    await (await chooser).setFiles({ name: 'dot.png', mimeType: 'image/png', buffer: PIXEL })
    await untilInPage(
      page,
      (y, n: number) => [...y.board.shapes.values()].filter((s) => s.kind === 'image').length >= n,
      dy ? 2 : 1,
    )
    await agree(a, b)
  }
  const shapes = (await agree(a, b, 16)).map((shape) => JSON.parse(shape) as { kind: string; text: string })
  const count = (kind: string) => shapes.filter((shape) => shape.kind === kind).length
  expect(['pen', 'rect', 'ellipse', 'line', 'arrow', 'note', 'text', 'image'].map(count)).toEqual(Array(8).fill(2))
  expect(shapes.filter(({ kind }) => kind === 'note').map(({ text }) => text)).toEqual(['Grüße 👋', 'Grüße 👋'])

  await b.keyboard.press('e')
  await drag(b, [300, 230], [1000, 230], 30)
  await agree(a, b)
  expect((await shapesOf(a)).length).toBeLessThan(16)
  expect([...a.complaints, ...b.complaints]).toEqual([])
})

test('a shape is moved, resized, turned, duplicated, restacked and deleted, the same in both windows', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'change')
  const b = await openBoard(t, server.httpUrl, 'change')
  await a.keyboard.press('r')
  await drag(a, [500, 300], [600, 360])
  const box = async () => (JSON.parse((await agree(a, b))[0]!) as { box: number[] }).box
  const [x, y, w, h] = await box()
  // From inside: a selected shape can be taken anywhere, filled or not.
  await drag(a, [525, 320], [585, 360])
  expect(await box()).toEqual([x! + 60, y! + 40, w, h, 0])
  // The handle of the lower right corner, then the one above that turns.
  await drag(a, [664, 404], [704, 434])
  expect((await box()).slice(2)).toEqual([w! + 40, h! + 30, 0])
  await drag(a, [630, 314], [730, 385])
  expect((await box())[4]).toBeGreaterThan(1)
  await a.keyboard.press('Control+d')
  await agree(a, b, 2)
  const order = (await shapesOf(a)).map((shape) => (JSON.parse(shape) as { id: string }).id)
  await a.keyboard.press('Control+[')
  await a.waitForTimeout(100)
  const restacked = (await agree(a, b)).map((shape) => (JSON.parse(shape) as { id: string }).id)
  expect(restacked).toEqual([...order].reverse())
  await a.keyboard.press('Control+a')
  await a.keyboard.press('Delete')
  await agree(a, b, 0)
})

test('copy and paste across boards', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'from')
  await a.keyboard.press('r')
  await drag(a, [500, 300], [600, 360])
  await a.keyboard.press('Control+c')
  await a.goto(`${server.httpUrl}/?room=to`)
  await a.waitForSelector('.pill[data-state="connected"]')
  expect(await shapesOf(a)).toEqual([])
  await a.keyboard.press('Control+v')
  await untilInPage(a, (y) => y.board.shapes.size === 1)
})

test('undo takes back one’s own work only, and redo brings it back', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'undo')
  const b = await openBoard(t, server.httpUrl, 'undo')
  for (const [page, y] of [
    [a, 200],
    [b, 400],
    [a, 300],
  ] as const) {
    await page.keyboard.press('p')
    await drag(page, [400, y], [700, y + 40], 30)
    await agree(a, b)
  }
  const ids = (await agree(a, b, 3)).map((shape) => (JSON.parse(shape) as { id: string }).id)
  for (let i = 0; i < 5; i++) await a.keyboard.press('Control+z')
  expect((await agree(a, b, 1)).map((shape) => (JSON.parse(shape) as { id: string }).id)).toEqual([ids[1]])
  await a.keyboard.press('Control+Shift+z')
  await agree(a, b, 2)
  await a.keyboard.press('Control+Shift+z')
  const back = await agree(a, b, 3)
  expect(new Set(back.map((shape) => (JSON.parse(shape) as { id: string }).id))).toEqual(new Set(ids))
})

test('cursors, names and selections of others are seen; a reaction needs no document write', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'people', { name: 'Ada Brook' })
  const b = await openBoard(t, server.httpUrl, 'people', { name: 'Ben Ford' })
  await b.keyboard.press('r')
  await drag(b, [500, 300], [600, 360])
  await b.mouse.move(640, 420)
  await untilInPage(a, ({ presence }) =>
    [...presence.others.values()].some((p) => p.name === 'Ben Ford' && p.cursor !== null),
  )
  await untilInPage(a, (y) => [...y.presence.others.values()].some((p) => p.selection.length === 1))
  const written = () => inPage(a, (y) => y.board.doc.store.clients.size + [...y.board.root.keys()].length)
  const before = await written()
  await b.click('[aria-label="React"]')
  await b.click('[aria-label="Heart"]')
  await a.waitForSelector('.reaction')
  expect(await written()).toBe(before)
  await a.click('.roster-button')
  await a.click('[aria-label="Follow Ben Ford"]')
  await inPage(b, (y) => y.view.lookAt({ x: 900, y: -300 }, 0.5))
  await untilInPage(a, (y) => y.view.zoom === 0.5)
})
