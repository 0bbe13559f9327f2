import { expect } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { agree, drag, inPage, openBoard, shapesOf, test, untilInPage, useBrowser } from './browser.ts'

useBrowser()

test('double-click opens a note or a text, by mouse and by finger; Backspace edits it and deletes nothing', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'double', { hasTouch: true })
  await page.keyboard.press('n')
  await page.mouse.click(500, 300)
  await page.keyboard.type('ab')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.mouse.dblclick(500, 300)
  await page.waitForSelector('.text-editor:not([hidden])')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('c')
  await untilInPage(page, ({ board }) => board.ordered()[0]?.text === 'ac')
  await page.keyboard.press('Escape')
  expect(await page.isVisible('.text-editor')).toBe(false)

  // On the empty board a double-click makes a text, and the Text tool opens the one that is there.
  await page.keyboard.press('Escape')
  await page.mouse.dblclick(800, 500)
  await page.keyboard.type('words')
  await page.keyboard.press('Escape')
  await page.keyboard.press('t')
  await page.mouse.click(820, 500)
  await page.keyboard.type(' more')
  await page.keyboard.press('Escape')
  await untilInPage(page, ({ board }) => board.ordered()[1]?.text === 'words more')
  expect(await shapesOf(page)).toHaveLength(2)

  await page.keyboard.press('n')
  await page.touchscreen.tap(300, 600)
  await page.waitForSelector('.text-editor:not([hidden])')
  await page.keyboard.type('by finger')
  await untilInPage(page, ({ board }) => board.ordered()[2]?.text === 'by finger')
  expect(page.complaints).toEqual([])
})

test('Escape closes what is open, top first; a press that closes a menu does nothing else', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'escape')
  await page.keyboard.press('r')
  await drag(page, [500, 300], [600, 360])
  await page.keyboard.press('b')
  await page.click('button[aria-label="Menu"]')
  expect(await page.isVisible('#menu')).toBe(true)
  await page.keyboard.press('Escape')
  expect([await page.isVisible('#menu'), await page.isVisible('.object-drawer')]).toEqual([false, true])
  await page.keyboard.press('Escape')
  expect(await page.isVisible('.object-drawer')).toBe(false)
  expect(await inPage(page, ({ bench }) => bench.selection.value.size)).toBe(1)
  await page.keyboard.press('Escape')
  expect(await inPage(page, ({ bench }) => bench.selection.value.size)).toBe(0)

  await page.keyboard.press('p')
  await page.click('button[aria-label="Menu"]')
  await drag(page, [300, 600], [500, 640])
  expect(await page.isVisible('#menu')).toBe(false)
  expect(await shapesOf(page)).toHaveLength(1)
  // Nor does a press on a button behind it.
  await page.click('button[aria-label="Menu"]')
  await page.click('.tool[data-tool="eraser"]')
  expect(await inPage(page, ({ bench }) => bench.tool.value)).toBe('pen')
  await page.click('button[aria-label="Menu"]')
  await page.click('button[aria-label="Menu"]')
  expect(await page.isVisible('#menu')).toBe(false)
  await drag(page, [300, 600], [500, 640])
  expect(await shapesOf(page)).toHaveLength(2)
})

test('Space and dragging moves the view with every tool, also after a click on the tool', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'space')
  for (const name of ['select', 'pen', 'rect', 'arrow', 'text', 'note', 'eraser', 'hand']) {
    await page.click(`.tool[data-tool="${name}"]`)
    const before = await inPage(page, ({ view }) => view.x)
    await page.keyboard.down('Space')
    await drag(page, [700, 400], [600, 400], 3)
    await page.keyboard.up('Space')
    expect(await inPage(page, ({ view }) => view.x), name).toBe(before + 100)
    expect(await inPage(page, ({ bench }) => bench.tool.value)).toBe(name)
  }
  expect(await shapesOf(page)).toHaveLength(0)
})

test('shortcuts work on other keyboard layouts; Ctrl with 0, + and - is the board’s zoom', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'layout')
  const key = (init: object) =>
    page.evaluate(
      `document.querySelector('.stage').dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...${JSON.stringify(init)} }))`,
    )
  const tool = () => inPage(page, ({ bench }) => bench.tool.value)
  await key({ key: 'к', code: 'KeyR' })
  expect(await tool()).toBe('rect')
  // AZERTY: the letter on the key counts, wherever it is.
  await key({ key: 'a', code: 'KeyQ' })
  expect(await tool()).toBe('arrow')
  await key({ key: 'р', code: 'KeyH' })
  expect(await tool()).toBe('hand')
  await page.keyboard.press('r')
  await drag(page, [500, 300], [600, 360])
  await key({ key: 'я', code: 'KeyZ', ctrlKey: true })
  await untilInPage(page, ({ board }) => board.shapes.size === 0)
  // QWERTZ: Z and Y have changed places.
  await key({ key: 'Z', code: 'KeyY', ctrlKey: true, shiftKey: true })
  await untilInPage(page, ({ board }) => board.shapes.size === 1)
  await page.keyboard.press('Control+Equal')
  expect(await inPage(page, ({ view }) => view.zoom)).toBe(1.25)
  await page.keyboard.press('Control+Minus')
  await page.keyboard.press('Control+Minus')
  expect(await inPage(page, ({ view }) => view.zoom)).toBe(0.8)
  await page.keyboard.press('Control+Digit0')
  expect(await inPage(page, ({ view }) => view.zoom)).toBe(1)
})

test('an arrow key held down is one step to undo and few messages', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'held')
  const b = await openBoard(t, server.httpUrl, 'held')
  await a.keyboard.press('r')
  await drag(a, [500, 300], [600, 360])
  const [x] = (JSON.parse((await agree(a, b, 1))[0]!) as { box: number[] }).box
  const updates = await inPage(a, ({ board }) => {
    const counter = { n: 0 }
    board.doc.on('update', () => counter.n++)
    Object.assign(globalThis, { counter_: counter })
    return counter.n
  })
  expect(updates).toBe(0)
  for (let i = 0; i < 40; i++) await a.keyboard.down('ArrowRight')
  await a.keyboard.up('ArrowRight')
  const moved = JSON.parse((await agree(a, b))[0]!) as { box: number[] }
  expect(moved.box[0]).toBe(x! + 40)
  expect(await a.evaluate('window.counter_.n')).toBeLessThan(12)
  await a.keyboard.press('Control+z')
  expect((JSON.parse((await agree(a, b))[0]!) as { box: number[] }).box[0]).toBe(x)
})

test('the command palette, the context menu and the help are made of one table', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'table', { hasTouch: true })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('circle')
  await page.keyboard.press('Enter')
  expect(await inPage(page, ({ bench }) => bench.tool.value)).toBe('ellipse')
  await drag(page, [500, 300], [600, 360])
  await page.mouse.click(550, 302, { button: 'right' })
  expect(await page.isVisible('#context-menu')).toBe(true)
  await page.click('#context-menu [data-command="duplicate"]')
  await untilInPage(page, ({ board }) => board.shapes.size === 2)
  // A long press with a finger asks the same.
  const touch = await page.context().newCDPSession(page)
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: 900, y: 600 }] })
  await page.waitForSelector('#context-menu:popover-open')
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await page.click('#context-menu [data-command="select-all"]')
  expect(await inPage(page, ({ bench }) => bench.selection.value.size)).toBe(2)
  await page.keyboard.press('Delete')
  await untilInPage(page, ({ board }) => board.shapes.size === 0)
  await page.keyboard.press('?')
  const help = (await page.textContent('.help'))!
  for (const label of ['Ellipse', 'Duplicate', 'All commands', 'Zoom in']) expect(help).toContain(label)
  await page.keyboard.press('p')
  expect(await inPage(page, ({ bench }) => bench.tool.value)).not.toBe('pen')
  await page.keyboard.press('Escape')
  expect(await page.isVisible('.help')).toBe(false)
  expect(page.complaints).toEqual([])
})

test('the name form asks once, when there is somebody to show the name to', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'names', { name: '' })
  expect(await a.isVisible('#people')).toBe(false)
  await openBoard(t, server.httpUrl, 'names')
  await a.waitForSelector('#people:popover-open')
  // The press that closes it draws nothing.
  await a.keyboard.press('p')
  await drag(a, [300, 600], [500, 640])
  expect(await a.isVisible('#people')).toBe(false)
  expect(await shapesOf(a)).toHaveLength(0)
  await a.reload()
  await untilInPage(a, ({ presence }) => presence.others.size === 1)
  await a.waitForTimeout(200)
  expect(await a.isVisible('#people')).toBe(false)
})

test('the view survives a reload', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'view')
  await inPage(page, ({ view }) => view.lookAt({ x: 1_234, y: -567 }, 1.5))
  await page.reload()
  await page.waitForSelector('.pill[data-state="connected"]')
  const { x, y, zoom } = await inPage(page, ({ view }) => ({ x: view.x + 400, y: view.y + 800 / 3, zoom: view.zoom }))
  expect([Math.round(x), Math.round(y), zoom]).toEqual([1_234, -567, 1.5])
})
