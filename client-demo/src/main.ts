/**
 * Puts the page together. The document flows board → renderer → canvases; a pointer or the keyboard drives one tool, the tool
 * writes to the board and to presence; the connection carries both.
 */
import './style/tokens.css'
import './style/typeface.css'
import './style/stage.css'
import './style/bars.css'
import './style/style-panel.css'
import './style/panels.css'
import './style/drawers.css'
import './style/messages.css'
import './style/small.css'
import './style/contrast.css'
import './style/print.css'
import * as Y from 'yjs'
import { Announcer } from './a11y/announcer.ts'
import { History } from './board/history.ts'
import { WORDS } from './board/limits.ts'
import { Board } from './board/model.ts'
import { Renderer } from './canvas/renderer.ts'
import { loadTypeface } from './canvas/typeface.ts'
import { rememberView } from './canvas/view-memory.ts'
import { Viewport } from './canvas/viewport.ts'
import { printBoard } from './export/print.ts'
import { Attention } from './input/attention.ts'
import { warnBeforeFull } from './line/board-size.ts'
import { Connection } from './line/connection.ts'
import { openDeviceStore } from './line/device-store.ts'
import { layAside, takeBack } from './line/twin.ts'
import { keepPage } from './offline.ts'
import { showCursors } from './people/cursors.ts'
import { openIdentity } from './people/identity.ts'
import { Presence } from './people/presence.ts'
import { showPreviews } from './people/previews.ts'
import { shareSelection } from './people/share-selection.ts'
import { roomOfThisPage } from './room-name.ts'
import { signal } from './signal.ts'
import { Commands } from './tools/commands.ts'
import type { Bench, Look, ToolName } from './tools/tool.ts'
import { makeTools } from './tools/toolbox.ts'
import { h } from './ui/dom.ts'
import { furnish } from './ui/furnish.ts'
import { openTheme } from './ui/theme.ts'
import { Toasts } from './ui/toast.ts'
import { showWayToPeople } from './ui/way-back.ts'
import { Trouble } from './weir/trouble.ts'

/** Deletions come in groups, and the server measures a board again a second or more after they have arrived. */
const FULL_RETRIES_MS = [1_000, 2_500, 8_000]

const room = roomOfThisPage()
document.title = `${room} · y-weir`

const doc = new Y.Doc()
const board = new Board(doc)
const history = new History(board)
const connection = new Connection(
  room,
  doc,
  (origin) => origin === board.origin || origin === history.manager,
  () => history.step,
)
const presence = new Presence(connection.provider.awareness)
const identity = openIdentity()
const themeChoice = openTheme()
const { kept, ready } = openDeviceStore(room, doc)
const view = new Viewport()
const grid = signal(true)
const readOnly = signal(false)

// An application to screen readers: they pass the keys on instead of using them to read.
const stage = h('div', {
  class: 'stage',
  attrs: {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'whiteboard',
    'aria-label': 'Board. A letter key chooses a tool, question mark lists all keys, B lists the objects.',
  },
})
document.body.append(h('main', {}, stage))
const renderer = new Renderer(stage, board, view, themeChoice.theme, grid)
view.lookAt({ x: 0, y: 0 }, 1)
loadTypeface(() => renderer.repaintAll())
const cameBack = rememberView(view, room)

const bench: Bench = {
  board,
  history,
  view,
  renderer,
  presence,
  selection: signal<ReadonlySet<string>>(new Set()),
  look: signal<Look>({ color: 'ink', paper: 'yellow', fill: 'none', width: 2, size: 24 }),
  tool: signal<ToolName>('pen'),
  editing: signal<string | null>(null),
}
const tools = makeTools(bench)
showPreviews(board, presence, renderer)
for (const tool of Object.values(tools)) if (tool.paint) renderer.addLive(tool.paint)
showCursors(renderer, presence)
showWayToPeople(renderer, presence)
shareSelection(bench)
printBoard(board)

const toasts = new Toasts()
const announcer = new Announcer()
board.lost.on((words) => toasts.say(words, 'warning'))
let hidden = 0
board.changed.on(() => {
  if (hidden === 0 && board.hidden > 0) toasts.say(WORDS.hidden(board.hidden), 'warning')
  hidden = board.hidden
})
const ops = new Commands(bench, toasts)
const attention = new Attention(stage)
const trouble = new Trouble(board, history, view, connection)
const table = furnish({
  room,
  stage,
  bench,
  tools,
  ops,
  attention,
  connection,
  identity,
  themeChoice,
  grid,
  readOnly,
  kept,
  toasts,
  announcer,
  trouble,
})

identity.watch(({ name, color }) => presence.show({ name, color }))
bench.tool.watch((tool) => {
  bench.editing.set(null)
  if (tool !== 'select') bench.selection.set(new Set())
})
// A board that was full may take the rest once something is gone from it: nobody has to think of trying again.
let retry = 0
let retries: number[] = []
const retrySoon = () => {
  window.clearTimeout(retry)
  const wait = retries.shift()
  if (wait !== undefined) retry = window.setTimeout(() => void connection.connect(), wait)
}
const isFull = () => connection.state.value.is === 'refused' && connection.state.value.code === 4413
board.changed.on((ids) => {
  if (!isFull() || [...ids].every((id) => board.shapes.has(id))) return
  retries = [...FULL_RETRIES_MS]
  retrySoon()
})
connection.state.watch(() => {
  if (isFull()) retrySoon()
})
connection.state.watch((state) => {
  // What is drawn on a board that was deleted would go nowhere, and nobody would ever see it.
  const locked = state.is === 'read-only' || (state.is === 'refused' && state.code === 4410)
  board.readOnly = locked
  readOnly.set(locked)
  if (!locked) return
  bench.editing.set(null)
  bench.tool.set('select')
})

/** For tests and the curious; nothing here depends on it. */
Object.assign(window, {
  yweir: {
    board,
    provider: connection.provider,
    connection,
    presence,
    view,
    bench,
    commands: ops,
    table,
    attention,
    trouble,
  },
})

await ready
warnBeforeFull(doc, (words) => toasts.say(words, 'warning'))
kept.watch((value) => {
  if (value === 'kept') connection.onTaken = () => layAside(room, board.root, doc.clientID)
})
connection.reached.watch((reached) => {
  if (reached) void takeBack(room, board)
})
if (cameBack) announcer.say('The view is where it was.')
else if (board.shapes.size > 0) ops.showContents()
else connection.provider.once('sync', () => ops.showContents())
const askForNewer = keepPage(() => toasts.say('A newer version of this page is here: reload when it suits you.'))
let wasConnected = false
connection.state.watch(({ is }) => {
  if (is === 'connected' && wasConnected) askForNewer()
  wasConnected ||= is === 'connected'
})
await connection.connect()
