/** The drawer in which flow control can be seen: this page's line, the server's counters beside it, and ways to make trouble. */
import { fingerprint } from '../board/fingerprint.ts'
import type { Board } from '../board/model.ts'
import type { Connection } from '../line/connection.ts'
import { iconButton, textButton } from '../ui/button.ts'
import { h } from '../ui/dom.ts'
import type { IconName } from '../ui/icons.ts'
import { fetchMetrics, SERVER_FIGURES } from './server-metrics.ts'
import { Sparkline } from './sparkline.ts'
import type { Trouble } from './trouble.ts'
import { BOTS_PER_PRESS, FLOOD_EDITS, FREEZE_MS, OFFLINE_MS } from './trouble.ts'

const SAMPLE_MS = 500
const METRICS_MS = 2_000
const ROUND_TRIP_MS = 3_000
const NOTICES_SHOWN = 5
const NOTICE_WORDS: Record<string, string> = {
  behind: 'Behind: the server holds the rest back',
  'caught-up': 'Caught up',
  limited: 'Limited: too much at once',
  'limit-lifted': 'Limit lifted',
  'read-only': 'Read-only',
  degraded: 'Fewer, larger updates',
  'degraded-lifted': 'Back to single updates',
}

const perSecond = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} /s`
const bytesPerSecond = (value: number): string =>
  value < 1024 ? `${Math.round(value)} B/s` : `${(value / 1024).toFixed(1)} KB/s`

export class WeirPanel {
  readonly element: HTMLElement
  readonly #charts = {
    framesIn: new Sparkline('Messages in', perSecond),
    framesOut: new Sparkline('Messages out', perSecond),
    bytesIn: new Sparkline('Data in', bytesPerSecond),
    bytesOut: new Sparkline('Data out', bytesPerSecond),
    roundTrip: new Sparkline('Round trip', (ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`),
  }
  readonly #figures = new Map<string, { row: HTMLElement; value: HTMLElement; last: number | null }>()
  readonly #resyncs = h('dd', { text: '0' })
  readonly #objects = h('dd')
  readonly #print = h('dd', { class: 'mono' })
  readonly #bots = h('dd', { text: '–' })
  readonly #notices = h('ul', { class: 'notices' })
  readonly #server = h('dl', { class: 'figures' })
  readonly #serverNote = h('p', { class: 'drawer-note', text: 'Asking the server…' })
  #before = { framesIn: 0, framesOut: 0, bytesIn: 0, bytesOut: 0 }
  #tick = 0

  constructor(
    private readonly board: Board,
    private readonly connection: Connection,
    private readonly trouble: Trouble,
    onClose: () => void,
  ) {
    this.element = h(
      'aside',
      { class: 'card drawer weir-drawer', attrs: { 'aria-label': 'The weir', hidden: true } },
      h(
        'header',
        { class: 'drawer-head' },
        h('h2', { text: 'The weir' }),
        iconButton({ icon: 'close', label: 'Close the weir panel', onClick: onClose }),
      ),
      h('p', { class: 'drawer-note', text: 'What flows through this page’s line, and what the server does about it.' }),
      h(
        'div',
        { class: 'weir-page' },
        h(
          'section',
          { class: 'charts', attrs: { 'aria-label': 'This page' } },
          h('h3', { text: 'This page' }),
          ...Object.values(this.#charts).map(({ element }) => element),
        ),
        h(
          'dl',
          { class: 'figures' },
          this.#row('Resyncs', this.#resyncs),
          this.#row('Objects', this.#objects),
          this.#row('Board fingerprint', this.#print),
          this.#row('Bots that agree', this.#bots),
        ),
        this.#notices,
      ),
      this.#troubleSection(),
      h('section', { class: 'weir-server' }, h('h3', { text: 'Server' }), this.#serverNote, this.#server),
    )
    connection.noticed.on(({ kind }) => this.#note(NOTICE_WORDS[kind] ?? kind.slice(0, 40)))
    window.setInterval(() => this.#sample(), SAMPLE_MS)
  }

  opened(): void {
    void this.#askServer()
  }

  #row(label: string, value: HTMLElement): HTMLElement {
    return h('div', {}, h('dt', { text: label }), value)
  }

  #note(text: string): void {
    const time = new Date().toLocaleTimeString([], { hour12: false })
    this.#notices.prepend(h('li', {}, h('time', { text: time }), h('span', { text })))
    while (this.#notices.childElementCount > NOTICES_SHOWN) this.#notices.lastElementChild?.remove()
  }

  #troubleSection(): HTMLElement {
    const button = (label: string, words: string, name: IconName, run: () => void) => {
      const made = textButton(label, run, name)
      made.title = words
      made.setAttribute('aria-label', words)
      return made
    }
    // Two frames later, so that the press is seen before everything stops.
    const freeze = () => requestAnimationFrame(() => requestAnimationFrame(() => this.trouble.freeze()))
    const [freezeS, offlineS] = [FREEZE_MS / 1_000, OFFLINE_MS / 1_000]
    const edits = FLOOD_EDITS.toLocaleString('en')
    return h(
      'section',
      { class: 'trouble', attrs: { 'aria-label': 'Make trouble' } },
      h('h3', { text: 'Make trouble' }),
      button(`Freeze ${freezeS} s`, `Freeze this tab for ${freezeS} s`, 'freeze', freeze),
      button(`${edits} edits`, `Flood with ${edits} edits`, 'flood', () => this.trouble.flood()),
      button(`Offline ${offlineS} s`, `Go offline for ${offlineS} s`, 'offline', () => this.trouble.offline()),
      button(`${BOTS_PER_PRESS} bots`, `Add ${BOTS_PER_PRESS} bots that draw`, 'bot', () => this.trouble.addBots()),
      button('No bots', 'Send the bots away', 'close', () => this.trouble.removeBots()),
    )
  }

  #sample(): void {
    const { meter, liveness } = this.connection
    const open = !this.element.hidden
    for (const name of ['framesIn', 'framesOut', 'bytesIn', 'bytesOut'] as const) {
      this.#charts[name].push(((meter[name] - this.#before[name]) * 1_000) / SAMPLE_MS)
      this.#before[name] = meter[name]
    }
    this.#charts.roundTrip.push(this.connection.provider.wsconnected ? liveness.roundTrip : null)
    if (!open) return
    this.#tick++
    if (this.#tick % (ROUND_TRIP_MS / SAMPLE_MS) === 1) liveness.measure()
    if (this.#tick % (METRICS_MS / SAMPLE_MS) === 0) void this.#askServer()
    for (const chart of Object.values(this.#charts)) chart.paint()
    this.#resyncs.textContent = String(liveness.resyncs)
    if (this.#tick % 2 === 0) this.#compare()
  }

  #compare(): void {
    const print = fingerprint(this.board.root)
    const { bots } = this.trouble
    this.#objects.textContent = this.board.shapes.size.toLocaleString('en')
    this.#print.textContent = print
    if (bots.length === 0) this.#bots.textContent = '–'
    else this.#bots.textContent = `${bots.filter((bot) => fingerprint(bot.root) === print).length} of ${bots.length}`
  }

  async #askServer(): Promise<void> {
    const metrics = await fetchMetrics()
    this.#serverNote.hidden = metrics !== null
    this.#serverNote.textContent = 'The server does not show its counters to this page.'
    if (!metrics) return
    for (const { name, label, format = (value: number) => value.toLocaleString('en') } of SERVER_FIGURES) {
      const value = metrics.get(name)
      if (value === undefined) continue
      let figure = this.#figures.get(name)
      if (!figure) {
        const shown = h('dd')
        figure = { row: this.#row(label, shown), value: shown, last: null }
        figure.row.title = name
        this.#figures.set(name, figure)
        this.#server.append(figure.row)
      }
      figure.value.textContent = format(value)
      figure.row.classList.toggle('moved', figure.last !== null && figure.last !== value)
      figure.last = value
    }
  }
}
