import { expect } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { agree, inPage, openBoard, shapesOf, test, untilInPage, useBrowser } from './browser.ts'

useBrowser()

test('a phone of 360 px: everything is reachable, a finger draws, two fingers move and zoom', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'phone', {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
  })
  const touch = await page.context().newCDPSession(page)
  const fingers = (type: string, ...points: Array<[number, number]>) =>
    touch.send('Input.dispatchTouchEvent', {
      type: type as 'touchStart',
      touchPoints: points.map(([x, y], id) => ({ x, y, id })),
    })

  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  for (const name of ['Pen', 'Rectangle', 'Eraser', 'Menu', 'Undo', 'React']) {
    const button = page.locator(`button[aria-label="${name}"]`)
    await button.scrollIntoViewIfNeeded()
    const box = (await button.boundingBox())!
    expect(Math.min(box.width, box.height), name).toBeGreaterThanOrEqual(40)
    expect(box.x, name).toBeGreaterThanOrEqual(0)
    expect(box.x + box.width, name).toBeLessThanOrEqual(360)
  }
  await page.tap('button[aria-label="Pen"]')
  await fingers('touchStart', [80, 300])
  for (let i = 1; i <= 10; i++) await fingers('touchMove', [80 + i * 12, 300 + i * 6])
  await fingers('touchEnd')
  await untilInPage(page, ({ board }) => board.shapes.size === 1)

  const before = await inPage(page, ({ view }) => view.zoom)
  await fingers('touchStart', [120, 400], [200, 400])
  for (let i = 1; i <= 8; i++) await fingers('touchMove', [120 - i * 5, 400], [200 + i * 5, 400])
  await fingers('touchEnd')
  expect(await inPage(page, ({ view }) => view.zoom)).toBeGreaterThan(before * 1.5)
  expect(await shapesOf(page)).toHaveLength(1)
  expect(page.complaints).toEqual([])
})

test('a phone’s keyboard does not cover what is written', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'keyboard', {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  })
  // The keyboard shows itself only in how much of the window can be seen.
  await page.evaluate(
    `Object.defineProperty(visualViewport, 'height', { configurable: true, get: () => window.seen_ ?? 740 })`,
  )
  const keyboard = (height: number) =>
    page.evaluate(`window.seen_ = ${height}; visualViewport.dispatchEvent(new Event('resize'))`)
  const field = async () => {
    const { y, height } = (await page.locator('.text-editor').boundingBox())!
    return { top: y, bottom: y + height }
  }
  await page.tap('button[aria-label="Sticky note"]')
  await page.touchscreen.tap(180, 440)
  await page.waitForSelector('.text-editor:not([hidden])')
  expect((await field()).bottom).toBeGreaterThan(420)
  await keyboard(400)
  const { top, bottom } = await field()
  expect(bottom).toBeLessThanOrEqual(385)
  expect(top).toBeGreaterThan(60)
  // A note that grows keeps its end in sight.
  await page.keyboard.insertText('word '.repeat(400))
  expect((await field()).bottom).toBeLessThanOrEqual(385)
  const before = await inPage(page, ({ view }) => view.y)
  await keyboard(740)
  expect(await inPage(page, ({ view }) => view.y)).toBe(before)
})

test('keyboard only: every tool, selecting, moving, writing and deleting', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'keys')
  const b = await openBoard(t, server.httpUrl, 'keys')
  const press = async (...keys: string[]) => {
    for (const key of keys) await a.keyboard.press(key)
  }
  for (const key of ['p', 'r', 'o', 'l', 'a']) {
    await press(key, 'Enter', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowDown', 'Enter')
  }
  await press('n', 'Shift+ArrowUp', 'Enter', 'Enter')
  await a.keyboard.type('by keys')
  await press('Escape')
  await press('t', 'Shift+ArrowDown', 'Enter', 'Enter')
  await a.keyboard.type('text')
  await press('Escape')
  const shapes = (await agree(a, b, 7)).map(
    (shape) => JSON.parse(shape) as { kind: string; text: string; box: number[] },
  )
  expect(shapes.map(({ kind }) => kind)).toEqual(['pen', 'rect', 'ellipse', 'line', 'arrow', 'note', 'text'])
  expect(shapes[5]!.text).toBe('by keys')

  await press('v', 'Escape', '.')
  await press('.', 'Shift+ArrowRight', 'ArrowDown')
  const moved = JSON.parse((await agree(a, b))[1]!) as { box: number[] }
  expect(moved.box[0]).toBe(shapes[1]!.box[0]! + 10)
  expect(moved.box[1]).toBe(shapes[1]!.box[1]! + 1)
  await press('Delete')
  await agree(a, b, 6)
  await press('e', 'Enter', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowDown', 'Enter')
  expect((await shapesOf(a)).length).toBeLessThan(6)

  // Reached by Tab alone: the toolbar, and the list of objects with its entries.
  await press('Escape', 'Escape', 'b')
  await press('Tab', 'Enter')
  await untilInPage(a, ({ bench }) => bench.selection.value.size === 1)
  expect(a.complaints).toEqual([])
})

test('every control has a name, and the focus can be seen', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'names', { weir: true })
  await page.keyboard.press('w')
  const nameless = await page.evaluate(
    `[...document.querySelectorAll('button, input, textarea, [role]')].filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.getAttribute('role') === 'status' || e.getAttribute('role') === 'alert')).map((e) => e.outerHTML)`,
  )
  expect(nameless).toEqual([])
  // First comes the board, which marks its focus inside; then the controls.
  await page.keyboard.press('Tab')
  expect(await page.evaluate(`getComputedStyle(document.activeElement, '::after').borderStyle`)).toBe('solid')
  await page.keyboard.press('Tab')
  const outline = await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)
  expect(outline).toBe('solid')
})
