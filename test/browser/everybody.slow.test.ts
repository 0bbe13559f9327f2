import { deflateSync } from 'node:zlib'
import { expect } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { agree, type BoardPage, drag, inPage, openBoard, shapesOf, test, untilInPage, useBrowser } from './browser.ts'

useBrowser()

const boxes = async (page: BoardPage) =>
  (await shapesOf(page)).map(
    (shape) => JSON.parse(shape) as { kind: string; box: number[]; text: string; image: number },
  )

/** A PNG of one colour, of any size: a large photo as far as its header and its pixels go. */
function png(width: number, height: number): Buffer {
  const crcTable = Array.from({ length: 256 }, (_, n) => {
    let c = n
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
    return c >>> 0
  })
  const crc = (bytes: Buffer) => {
    let c = 0xffffffff
    for (const byte of bytes) c = crcTable[(c ^ byte) & 255]! ^ (c >>> 8)
    return (c ^ 0xffffffff) >>> 0
  }
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const out = Buffer.alloc(body.length + 8)
    out.writeUInt32BE(data.length, 0)
    body.copy(out, 4)
    out.writeUInt32BE(crc(body), body.length + 4)
    return out
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0, 0, 0, 0], 8)
  const rows = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

test('the editor of a turned note sits on the note; right-to-left words, and nothing runs below the paper', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'notes')
  await inPage(page, ({ board }) => {
    board.create([{ kind: 'note', box: [-92, -92, 184, 184, 0.6], color: 'yellow', size: 24, text: '' }])
  })
  await page.keyboard.press('v')
  await page.mouse.dblclick(600, 400)
  const field = (await page.waitForSelector('.text-editor:not([hidden])'))!
  const around = (await field.boundingBox())!
  expect([Math.round(around.x + around.width / 2), Math.round(around.y + around.height / 2)]).toEqual([600, 400])
  expect(around.width).toBeGreaterThan(184 * 1.3)
  await page.keyboard.insertText('שלום')
  expect(await page.evaluate(`getComputedStyle(document.querySelector('.text-editor')).unicodeBidi`)).toBe('plaintext')
  await page.keyboard.insertText(' word'.repeat(800))
  await page.keyboard.press('Escape')
  const [note] = await boxes(page)
  expect(note!.box[3]).toBeGreaterThan(400)
  expect(page.complaints).toEqual([])
})

test('several dropped pictures land where they were dropped; a photo of 48 million pixels is scaled down', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'drop')
  const files = [png(40, 40), png(60, 30), png(8_000, 6_000)].map((bytes) => bytes.toString('base64'))
  await page.evaluate(`(() => {
    const data = new DataTransfer()
    for (const [i, file] of ${JSON.stringify(files)}.entries()) {
      const bytes = Uint8Array.from(atob(file), (c) => c.charCodeAt(0))
      data.items.add(new File([bytes], i + '.png', { type: 'image/png' }))
    }
    const stage = document.querySelector('.stage')
    stage.dispatchEvent(new DragEvent('drop', { dataTransfer: data, clientX: 300, clientY: 250, bubbles: true, cancelable: true }))
  })()`)
  await untilInPage(page, ({ board }) => board.shapes.size === 3, undefined, 30_000)
  const [first, , photo] = await boxes(page)
  const { x, y } = await inPage(page, ({ view }) => ({ x: view.x, y: view.y }))
  expect([first!.box[0]! + 20 - x, first!.box[1]! + 20 - y].map(Math.round)).toEqual([300, 250])
  expect(photo!.image).toBeLessThanOrEqual(512 * 1024)
  expect(photo!.box[2]! / photo!.box[3]!).toBeCloseTo(4 / 3, 1)
})

test('who follows sees all that the leader sees; who is lost finds back; what is selected is said', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'back', { name: 'Ada' })
  const b = await openBoard(t, server.httpUrl, 'back', { name: 'Ben', viewport: { width: 700, height: 500 } })
  await a.keyboard.press('n')
  await a.mouse.click(600, 300)
  await a.keyboard.type('milk')
  for (const key of ['Escape', 'Escape', '.']) await a.keyboard.press(key)
  const said = (words: string) => a.waitForSelector(`[aria-live]:has-text("${words}")`, { state: 'attached' })
  await said('Selected: Sticky note, yellow: milk')
  await a.keyboard.press('r')
  await drag(a, [300, 300], [400, 360])
  await a.keyboard.press('Control+a')
  await said('2 objects selected: 1 sticky note, 1 rectangle')
  await agree(a, b, 2)

  await b.click('.roster-button')
  await b.click('[aria-label="Follow Ada"]')
  await inPage(a, ({ view }) => view.lookAt({ x: 100, y: 50 }, 1))
  await untilInPage(b, ({ view }) => Math.abs(view.zoom - 700 / 1200) < 0.01)
  await b.keyboard.press('Escape')
  await b.keyboard.press('Escape')

  await inPage(b, ({ view }) => view.lookAt({ x: 9_000, y: 9_000 }, 1))
  await b.click('.way-back')
  await b.waitForSelector('.way-back', { state: 'hidden' })
  expect(await inPage(b, ({ view }) => Math.abs(view.x) < 2_000)).toBe(true)

  // A reaction rises where the person was at work, not where the button is.
  await a.mouse.move(500, 350)
  await a.click('[aria-label="React"]')
  await a.click('[aria-label="Heart"]')
  const [left, top] = (await a.evaluate(
    `(({ style }) => [parseFloat(style.left), parseFloat(style.top)])(document.querySelector('.reaction'))`,
  )) as number[]
  expect(Math.hypot(left! - 500, top! - 350)).toBeLessThan(60)
})

test('print shows the board and no bars; forced colours and reduced motion leave everything in reach', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'paper', { forcedColors: 'active', reducedMotion: 'reduce' })
  await page.keyboard.press('r')
  await drag(page, [500, 300], [600, 360])
  const marked = await page.evaluate(
    `getComputedStyle(document.querySelector('.tool[aria-pressed="true"]')).outlineStyle`,
  )
  expect(marked).toBe('solid')
  await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`)
  await page.emulateMedia({ media: 'print' })
  expect(await page.isVisible('.toolbar')).toBe(false)
  expect(await page.isVisible('.top')).toBe(false)
  const sheet = (await (await page.waitForSelector('.print-sheet canvas')).boundingBox())!
  expect(sheet.width).toBeGreaterThan(100)
  await page.emulateMedia({ media: 'screen' })
  await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`)
  expect(await page.isVisible('.toolbar')).toBe(true)
})

test.for([
  [320, 640],
  [740, 340],
  [820, 1_180],
  [1_100, 500],
])('every tool is in reach without scrolling at %i × %i', async ([width, height], t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'sizes', {
    viewport: { width: width!, height: height! },
    hasTouch: true,
  })
  const outside = await page.evaluate(`[...document.querySelectorAll('.toolbar button, .top button, .view-bar button')]
    .filter((button) => button.checkVisibility())
    .filter((button) => {
      const { left, top, right, bottom } = button.getBoundingClientRect()
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
      return left < 0 || top < 0 || right > innerWidth || bottom > innerHeight || !button.contains(hit)
    })
    .map((button) => button.getAttribute('aria-label'))`)
  expect(outside).toEqual([])
  // Nor does one bar lie over another.
  const bars =
    (await page.evaluate(`['.toolbar', '.style-panel', '.view-bar', '.top-left', '.top-right', '.empty'].map((bar) => {
    const { left, top, right, bottom } = document.querySelector(bar).getBoundingClientRect()
    return { bar, left, top, right, bottom }
  })`)) as Array<{ bar: string; left: number; top: number; right: number; bottom: number }>
  for (const [i, a] of bars.entries())
    for (const b of bars.slice(i + 1)) {
      const over = a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
      expect(over, `${a.bar} and ${b.bar}`).toBe(false)
    }
})

test('a pen draws while the palm rests, and afterwards fingers move the view and never draw', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'palm')
  await page.keyboard.press('p')
  const send = (type: string, init: object) =>
    page.evaluate(
      `document.querySelector('.stage').dispatchEvent(new PointerEvent(${JSON.stringify(type)}, { bubbles: true, button: 0, ...${JSON.stringify(init)} }))`,
    )
  // Capture asks for a pointer that is really there.
  await page.evaluate(`document.querySelector('.stage').setPointerCapture = () => {}`)
  const pen = { pointerType: 'pen', pointerId: 50, pressure: 0.7 }
  const palm = { pointerType: 'touch', pointerId: 60 }
  await send('pointerdown', { ...pen, clientX: 300, clientY: 300 })
  await send('pointerdown', { ...palm, clientX: 420, clientY: 500 })
  for (let i = 1; i < 20; i++) await send('pointermove', { ...pen, clientX: 300 + i * 8, clientY: 300 })
  await send('pointerup', { ...palm, clientX: 420, clientY: 500 })
  await send('pointerup', { ...pen, clientX: 460, clientY: 300 })
  const before = await inPage(page, ({ view }) => view.x)
  await send('pointerdown', { ...palm, clientX: 420, clientY: 500 })
  await send('pointermove', { ...palm, clientX: 520, clientY: 500 })
  await send('pointerup', { ...palm, clientX: 520, clientY: 500 })
  expect(await inPage(page, ({ view }) => view.x)).toBe(before - 100)
  const shapes = (await shapesOf(page)).map((shape) => JSON.parse(shape) as { points: number[]; box: number[] })
  expect(shapes).toHaveLength(1)
  expect(shapes[0]!.box[2]).toBeGreaterThan(140)
  expect(shapes[0]!.points[2]).toBeCloseTo(0.7)
})

test('a palm that rests before the pen comes neither draws nor moves the view', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'palm-first')
  await page.keyboard.press('p')
  const send = (type: string, init: object) =>
    page.evaluate(
      `document.querySelector('.stage').dispatchEvent(new PointerEvent(${JSON.stringify(type)}, { bubbles: true, button: 0, ...${JSON.stringify(init)} }))`,
    )
  await page.evaluate(`document.querySelector('.stage').setPointerCapture = () => {}`)
  const x = await inPage(page, ({ view }) => view.x)
  for (const [palmId, y] of [
    [60, 300],
    [61, 200],
  ] as const) {
    const pen = { pointerType: 'pen', pointerId: 50, pressure: 0.7 }
    const palm = { pointerType: 'touch', pointerId: palmId }
    await send('pointerdown', { ...palm, clientX: 420, clientY: 500 })
    await send('pointerdown', { ...pen, clientX: 300, clientY: y })
    for (let i = 1; i < 20; i++) {
      await send('pointermove', { ...pen, clientX: 300 + i * 8, clientY: y })
      await send('pointermove', { ...palm, clientX: 420 + i, clientY: 500 })
    }
    await send('pointerup', { ...pen, clientX: 460, clientY: y })
    await send('pointerup', { ...palm, clientX: 440, clientY: 500 })
  }
  const shapes = await boxes(page)
  expect(shapes.map(({ kind }) => kind)).toEqual(['pen', 'pen'])
  for (const { box } of shapes) expect(box[2]).toBeGreaterThan(140)
  expect(await inPage(page, ({ view }) => view.x)).toBe(x)
})

test('an arrow at the edge points to a person who is elsewhere on the board', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'elsewhere')
  const b = await openBoard(t, server.httpUrl, 'elsewhere')
  await a.mouse.move(600, 400)
  await untilInPage(b, ({ presence }) => [...presence.others.values()][0]?.cursor !== null)
  const painted = () =>
    b.evaluate(`(() => {
      const { width, height } = document.querySelector('.layer-live')
      const { data } = document.querySelector('.layer-live').getContext('2d').getImageData(0, 0, width, height)
      const at = []
      for (let i = 0; i < data.length; i += 4) if (data[i] === 11 && data[i + 1] === 112) at.push([(i / 4) % width, Math.floor(i / 4 / width)])
      const mean = (n) => at.reduce((sum, point) => sum + point[n], 0) / at.length
      return at.length === 0 ? null : [mean(0), mean(1)]
    })()`) as Promise<[number, number] | null>
  await inPage(b, ({ view }) => view.lookAt({ x: -3_000, y: 0 }, 1))
  await expect.poll(async () => (await painted())?.[0] ?? 0).toBeGreaterThan(1_000)
  expect(Math.abs((await painted())![1] - 400)).toBeLessThan(60)
  await inPage(b, ({ view }) => view.lookAt({ x: 0, y: 3_000 }, 1))
  await expect.poll(async () => (await painted())?.[1] ?? 800).toBeLessThan(150)
})

test('a file that falls on a bar is put on the board, and the browser stays', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'bar')
  const kept = await page.evaluate(`(() => {
    const data = new DataTransfer()
    data.items.add(new File([Uint8Array.from(atob('${png(40, 40).toString('base64')}'), (c) => c.charCodeAt(0))], 'a.png', { type: 'image/png' }))
    const drop = (type) => document.querySelector('.toolbar').dispatchEvent(
      new DragEvent(type, { dataTransfer: data, clientX: 20, clientY: 300, bubbles: true, cancelable: true }))
    return [drop('dragover'), drop('drop')]
  })()`)
  expect(kept).toEqual([false, false])
  await untilInPage(page, ({ board }) => board.shapes.size === 1)
})

test('the link is copied where there is no clipboard API', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'copied link')
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
  await page.click('.room-button')
  await page.waitForSelector('.toast:has-text("Link copied. Whoever opens it is on this board.")')
})

test('[IN8] another writer under this page’s client id: the page begins anew with a fresh one, and loses nothing', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'twins')
  const b = await openBoard(t, server.httpUrl, 'twins')
  const id = await inPage(a, ({ board }) => board.doc.clientID)
  await inPage(b, ({ connection }) => connection.pause())
  await a.keyboard.press('r')
  await drag(a, [300, 300], [400, 360])
  // The same id, other content.
  await inPage(b, ({ board }, taken: number) => void (board.doc.clientID = taken), id)
  await b.keyboard.press('n')
  await b.mouse.click(700, 300)
  await b.keyboard.type('mine')
  await b.keyboard.press('Escape')
  await b.keyboard.press('p')
  await drag(b, [600, 500], [800, 540], 20)
  const reloaded = b.waitForEvent('load')
  await inPage(b, ({ connection }) => void connection.connect())
  await reloaded
  expect(await server.metric('ws_closes_total{code="4409"}')).toBe(1)
  const shapes = (await agree(a, b, 3)).map((shape) => JSON.parse(shape) as { kind: string; text: string })
  expect(shapes.map(({ kind }) => kind).sort()).toEqual(['note', 'pen', 'rect'])
  expect(shapes.find(({ kind }) => kind === 'note')!.text).toBe('mine')
  expect(await inPage(b, ({ board }) => board.doc.clientID)).not.toBe(id)
})
