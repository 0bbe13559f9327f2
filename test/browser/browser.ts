/** Real pages in Debian's Chromium. Without it the tests say so and are skipped, except where CI must have it. */
import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, test as plainTest, type TestContext, vi } from 'vitest'
import type { Hook } from './page-hook.ts'

const CHROMIUM = '/usr/bin/chromium'
const BUILT_PAGE = new URL('../../dist/demo/index.html', import.meta.url)
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const missing = !existsSync(CHROMIUM)
if (missing && process.env.CI)
  throw new Error(`${CHROMIUM} is missing: CI has to run the browser tests (apt-get install chromium)`)
if (missing) console.warn(`skipped: browser tests need ${CHROMIUM} (apt-get install chromium)`)
if (!missing && !existsSync(BUILT_PAGE)) throw new Error('dist/demo is missing: run `npm run build:demo` first')

export const test = plainTest.skipIf(missing)

let browser: Browser | null = null

/** One browser per test file. */
export function useBrowser(): void {
  // Software rendering on a busy machine takes its time; none of the tests measures it by this bound.
  vi.setConfig({ testTimeout: 60_000 })
  beforeAll(async () => {
    if (!missing) browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  })
  afterAll(() => browser?.close())
}

export interface BoardPage extends Page {
  /** Everything the page complained about. */
  readonly complaints: string[]
}

export interface OpenOptions extends BrowserContextOptions {
  /** Empty: somebody who has not been asked yet. */
  readonly name?: string
  /** Waits until the line is good; false for pages that are meant to be refused. */
  readonly connected?: boolean
  /** With the weir panel and its ways to make trouble. */
  readonly weir?: boolean
}

/** A person with a browser of their own (nothing shared but the server), on the board. */
export async function openBoard(
  t: Pick<TestContext, 'onTestFinished'>,
  httpUrl: string,
  room: string,
  { name = 'Ada Brook', connected = true, weir = false, ...options }: OpenOptions = {},
): Promise<BoardPage> {
  const context = await browser!.newContext({
    viewport: { width: 1200, height: 800 },
    // Kept pages are a test of their own; everywhere else they would only cost time.
    serviceWorkers: 'block',
    ...options,
  })
  t.onTestFinished(() => context.close())
  const known = JSON.stringify(JSON.stringify({ name, color: '#0b7079' }))
  if (name) await context.addInitScript(`localStorage.setItem('y-weir:identity', ${known})`)
  const page = Object.assign(await context.newPage(), { complaints: [] as string[] })
  page.on('pageerror', (error) => page.complaints.push(String(error.stack ?? error)))
  page.on('console', (message) => {
    const text = message.text()
    // A server that is away is part of some tests; Chromium logs each refused connection.
    if (message.type() === 'error' && !/WebSocket|ERR_|Failed to load/.test(text)) page.complaints.push(text)
  })
  await page.goto(`${httpUrl}/?room=${encodeURIComponent(room)}${weir ? '&weir=1' : ''}`)
  if (connected) await lineIs(page, 'connected')
  return page
}

export const lineIs = (page: Page, ...states: string[]): Promise<unknown> =>
  page.waitForSelector(states.map((state) => `.pill[data-state="${state}"]`).join(','), { timeout: 15_000 })

/** Runs `work` in the page with its hook; what it gives back must survive JSON. */
export const inPage = <R, A = undefined>(page: Page, work: (hook: Hook, argument: A) => R, argument?: A): Promise<R> =>
  page.evaluate(`(${work})(window.yweir, ${JSON.stringify(argument)})`)

/** Polled from here: the page's policy forbids the evaluation that Playwright's own waiting needs. */
export async function untilInPage<A = undefined>(
  page: Page,
  condition: (hook: Hook, argument: A) => boolean,
  argument?: A,
  withinMs = 15_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await inPage(page, condition, argument))) {
    if (performance.now() > deadline) throw new Error(`after ${withinMs} ms still not: ${condition}`)
    await page.waitForTimeout(40)
  }
}

/** The board as the page holds it: everything that is visible of every object, in painting order. */
export const shapesOf = (page: Page): Promise<string[]> =>
  inPage(page, ({ board }) =>
    board.ordered().map(({ image, ...shape }) => JSON.stringify({ ...shape, image: image ? image.length : null })),
  )

/** Waits until both pages show the same objects, `count` of them if given. */
export async function agree(a: Page, b: Page, count: number | null = null, withinMs = 15_000): Promise<string[]> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const [left, right] = [await shapesOf(a), await shapesOf(b)]
    const same = left.length === right.length && left.every((shape, i) => shape === right[i])
    if (same && (count === null || left.length === count)) return left
    if (performance.now() > deadline) {
      throw new Error(
        `boards differ after ${withinMs} ms: ${left.length} and ${right.length} objects, expected ${count ?? 'equal'}`,
      )
    }
    await a.waitForTimeout(50)
  }
}

export async function drag(page: Page, from: [number, number], to: [number, number], steps = 8): Promise<void> {
  await page.mouse.move(...from)
  await page.mouse.down()
  await page.mouse.move(...to, { steps })
  await page.mouse.up()
}
