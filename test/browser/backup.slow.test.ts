import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { type BoardPage, inPage, openBoard, shapesOf, test, untilInPage, useBrowser } from './browser.ts'

useBrowser()

type Plain = { kind: string; box: number[]; text: string }
const plain = async (page: BoardPage) => (await shapesOf(page)).map((shape) => JSON.parse(shape) as Plain)

test('JSON is a true backup of 10 000 objects with images, and the import says what it could not take', async (t) => {
  const server = await startServer(t)
  const a = await openBoard(t, server.httpUrl, 'backup')
  const save = async () => {
    await a.click('button[aria-label="Menu"]')
    const download = a.waitForEvent('download')
    await a.click('.menu-item[data-command="export-json"]')
    return readFileSync((await (await download).path())!)
  }
  const load = async (json: Buffer) => {
    const chooser = a.waitForEvent('filechooser')
    await a.click('button[aria-label="Menu"]')
    await a.click('.menu-item[data-command="import-json"]')
    await (await chooser).setFiles({ name: 'board.json', mimeType: 'application/json', buffer: json })
  }
  await inPage(a, ({ board }) => {
    const png = Uint8Array.from(
      atob(
        'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==',
      ),
      (char) => char.charCodeAt(0),
    )
    const at = (i: number) => [(i % 100) * 60, Math.floor(i / 100) * 60, 50, 50, 0]
    for (let from = 0; from < 10_000; from += 200) {
      board.create(
        Array.from({ length: 200 }, (_, j) => {
          const i = from + j
          if (i % 1000 === 0) return { kind: 'image', box: at(i), color: 'ink', image: png }
          return { kind: i % 2 ? 'rect' : 'note', box: at(i), color: 'blue', width: 2, size: 20, text: `n ${i}` }
        }),
      )
    }
  })
  const before = (await plain(a)).map(({ kind, box, text }) => [kind, box, text])
  expect(before).toHaveLength(10_000)
  const json = await save()
  await inPage(a, ({ board }) => board.remove([...board.shapes.keys()]))
  await load(json)
  await untilInPage(a, ({ board }) => board.shapes.size === 10_000)
  expect((await plain(a)).map(({ kind, box, text }) => [kind, box, text])).toEqual(before)

  const broken = {
    format: 'y-weir board',
    version: 1,
    shapes: [
      { kind: 'cube', box: [0, 0, 1, 1, 0] },
      { kind: 'rect', box: [0] },
      { kind: 'rect', box: [0, 0, 9, 9, 0] },
    ],
  }
  await load(Buffer.from(JSON.stringify(broken)))
  const said = await (await a.waitForSelector('.toast:has-text("left out")')).textContent()
  expect(said).toBe(
    '1 object added. 2 were left out: 1 of a kind this page does not know, 1 without a place on the board.',
  )
  const long = {
    format: 'y-weir board',
    version: 1,
    shapes: [
      { kind: 'text', box: [0, 0, 99, 99, 0], text: 'x'.repeat(30_000) },
      { kind: 'pen', box: [0, 0, 9, 9, 0], points: Array.from({ length: 90_000 }, (_, i) => i % 9) },
    ],
  }
  await load(Buffer.from(JSON.stringify(long)))
  await a.waitForSelector('.toast:has-text("2 objects added. 1 stroke has points that could not be taken.")')
  await a.waitForSelector('.toast:has-text("the last 25,000 were not taken")')
  expect(a.complaints).toEqual([])
})
