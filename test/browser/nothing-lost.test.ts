import { expect } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { agree, type BoardPage, inPage, openBoard, shapesOf, test, untilInPage, useBrowser } from './browser.ts'

useBrowser()

type Plain = { kind: string; box: number[]; text: string; points: number[] }
const plain = async (page: BoardPage) => (await shapesOf(page)).map((shape) => JSON.parse(shape) as Plain)

test('a stroke in progress survives a tool key, Ctrl+Z and a pointer that the system takes away', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'stroke')
  await page.keyboard.press('p')
  const stroke = async (y: number, during: () => Promise<unknown>) => {
    await page.mouse.move(300, y)
    await page.mouse.down()
    await page.mouse.move(500, y + 30, { steps: 12 })
    await during()
    await page.mouse.move(560, y, { steps: 4 })
    await page.mouse.up()
  }
  await stroke(200, () => page.keyboard.press('Control+z'))
  await stroke(300, () =>
    page.evaluate(
      `document.querySelector('.stage').dispatchEvent(new PointerEvent('pointercancel', { pointerId: 1 }))`,
    ),
  )
  await stroke(400, () => page.keyboard.press('r'))
  await page.keyboard.press('Escape')
  const shapes = await plain(page)
  expect(shapes.map(({ kind }) => kind)).toEqual(['pen', 'pen', 'pen'])
  for (const { points, box } of shapes) {
    expect(points.length).toBeGreaterThan(20)
    expect(box[2]).toBeGreaterThan(150)
  }
  expect(page.complaints).toEqual([])
})

test('a stroke that somebody else deletes while it is drawn is there when the pen is lifted', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'deleted-stroke')
  const b = await openBoard(t, server.httpUrl, 'deleted-stroke')
  await a.keyboard.press('p')
  await a.mouse.move(400, 300)
  await a.mouse.down()
  await a.mouse.move(500, 330, { steps: 12 })
  await untilInPage(b, ({ board }) => board.shapes.size === 1)
  await inPage(b, ({ board }) => board.remove([...board.shapes.keys()]))
  await untilInPage(a, ({ board }) => board.shapes.size === 0)
  await a.mouse.move(600, 300, { steps: 12 })
  await a.mouse.up()
  await agree(a, b, 1)
  expect((await plain(b))[0]!.box.slice(2, 4).map(Math.round)).toEqual([200, 30])
})

test('a note that somebody else deletes while one writes in it says so, and the words are kept', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'deleted-note')
  const b = await openBoard(t, server.httpUrl, 'deleted-note')
  await a.keyboard.press('n')
  await a.mouse.click(600, 300)
  await a.keyboard.type('half a thou')
  await agree(a, b, 1)
  await inPage(b, ({ board }) => board.remove([...board.shapes.keys()]))
  await a.waitForSelector('.toast-warning:has-text("Your words are kept")')
  await a.keyboard.type('ght')
  await a.keyboard.press('Escape')
  await agree(a, b, 1)
  expect((await plain(b))[0]!.text).toBe('half a thought')
})

test('what one takes away oneself while writing in it is gone, and nobody else is blamed', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'own-doing')
  for (const button of ['undo', 'delete']) {
    await page.keyboard.press('n')
    await page.mouse.click(600, 300)
    await page.keyboard.type('words')
    await page.click(`${button === 'undo' ? '.view-bar' : '.style-panel'} [data-command="${button}"]`)
    expect(await page.isVisible('.text-editor'), button).toBe(false)
    expect(await shapesOf(page), button).toHaveLength(0)
  }
  // One more turn of the page's loop, in which the words would come back.
  await page.waitForTimeout(50)
  expect(await shapesOf(page)).toHaveLength(0)
  expect(await page.$$('.toast')).toHaveLength(0)
  await page.keyboard.press('Control+z')
  expect((await plain(page)).map(({ text }) => text)).toEqual(['words'])
})

test('nothing leaves the world, and no text ends in silence: it is said, and the rest stays right', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'limits')
  await inPage(page, ({ board }) => {
    const box = (x: number) => [x, 0, 100, 100, 0]
    board.create([
      { kind: 'rect', box: box(999_800), color: 'ink', width: 2 },
      { kind: 'rect', box: box(999_500), color: 'ink', width: 2 },
    ])
  })
  await inPage(page, ({ view }) => view.lookAt({ x: 999_600, y: 50 }, 1))
  await page.keyboard.press('Control+a')
  for (let i = 0; i < 30; i++) await page.keyboard.press('Shift+ArrowRight')
  await page.waitForSelector('.toast:has-text("The board ends here.")')
  // The group stays as it was, at the edge.
  expect((await plain(page)).map(({ box }) => box[0])).toEqual([999_900, 999_600])

  await page.keyboard.press('Escape')
  await inPage(page, ({ view }) => view.lookAt({ x: 0, y: 0 }, 1))
  await page.keyboard.press('t')
  await page.mouse.click(500, 300)
  await page.keyboard.insertText('x'.repeat(4_990))
  await page.keyboard.insertText('0123456789abc')
  await page.waitForSelector('.toast:has-text("the last 3 were not taken")')
  await page.keyboard.press('Escape')
  const text = (await plain(page))[2]!.text
  expect([text.length, text.slice(-10)]).toEqual([5_000, '0123456789'])
})
