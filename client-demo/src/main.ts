/**
 * Puts the page together. The document flows board → renderer → canvases; a pointer or the keyboard drives one tool, the tool
 * writes to the board and to presence; the connection carries both.
 */
import './style/tokens.css'
import './style/stage.css'
import './style/bars.css'
import './style/style-panel.css'
import './style/panels.css'
import './style/drawers.css'
import './style/messages.css'
import './style/small.css'
import { IndexeddbPersistence } from 'y-indexeddb'
import * as Y from 'yjs'
import { Announcer } from './a11y/announcer.ts'
import { History } from './board/history.ts'
import { Board } from './board/model.ts'
import { Renderer } from './canvas/renderer.ts'
import { rememberView } from './canvas/view-memory.ts'
import { Viewport } from './canvas/viewport.ts'
import { Attention } from './input/attention.ts'
import { Connection } from './line/connection.ts'
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
import { Trouble } from './weir/trouble.ts'

/** The store on this device must not keep anybody waiting: without it the server brings the board. */
const STORE_PATIENCE_MS = 1_500

const room = roomOfThisPage()
document.title = `${room} · y-weir`

const doc = new Y.Doc()
const board = new Board(doc)
const history = new History(board)
const connection = new Connection(room, doc, (origin) => origin === board.origin || origin === history.manager)
const presence = new Presence(connection.provider.awareness)
const identity = openIdentity()
const themeChoice = openTheme()
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
const cameBack = rememberView(view, room)

const bench: Bench = {
  board,
  history,
  view,
  renderer,
  presence,
  selection: signal<ReadonlySet<string>>(new Set()),
  look: signal<Look>({ color: 'ink', fill: 'none', width: 4, size: 24 }),
  tool: signal<ToolName>('pen'),
  editing: signal<string | null>(null),
}
const tools = makeTools(bench)
showPreviews(board, presence, renderer)
for (const tool of Object.values(tools)) if (tool.paint) renderer.addLive(tool.paint)
showCursors(renderer, presence)
shareSelection(bench)

const toasts = new Toasts()
const announcer = new Announcer()
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
  toasts,
  announcer,
  trouble,
})

identity.watch(({ name, color }) => presence.show({ name, color }))
bench.tool.watch((tool) => {
  bench.editing.set(null)
  if (tool !== 'select') bench.selection.set(new Set())
})
connection.state.watch(({ is }) => {
  const locked = is === 'read-only'
  board.readOnly = locked
  readOnly.set(locked)
  if (locked) bench.tool.set('select')
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

const store = new IndexeddbPersistence(`y-weir:${room}`, doc)
await Promise.race([store.whenSynced, new Promise((done) => setTimeout(done, STORE_PATIENCE_MS))])
if (cameBack) announcer.say('The view is where it was.')
else if (board.shapes.size > 0) ops.showContents()
else connection.provider.once('sync', () => ops.showContents())
await connection.connect()
