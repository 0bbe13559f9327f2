/** Everything around the board: bars, drawers, sheets, and the keys that open them. */
import type { Announcer } from '../a11y/announcer.ts'
import { ObjectList } from '../a11y/object-list.ts'
import { boardFromJson, boardToJson, MAX_IMPORT_BYTES } from '../export/board-json.ts'
import { boardToPng } from '../export/board-png.ts'
import { boardToSvg } from '../export/board-svg.ts'
import { pickFile, saveFile } from '../export/files.ts'
import { Crosshair } from '../input/crosshair.ts'
import { listenToKeys } from '../input/keyboard.ts'
import { Pointer } from '../input/pointer.ts'
import type { Connection } from '../line/connection.ts'
import { lineBanner, linePill } from '../line/line-pill.ts'
import { Follow } from '../people/follow.ts'
import type { Identity } from '../people/identity.ts'
import { reactions } from '../people/reactions.ts'
import { roster } from '../people/roster.ts'
import { linkToRoom, randomRoomName } from '../room-name.ts'
import type { Signal } from '../signal.ts'
import type { Commands } from '../tools/commands.ts'
import type { Bench, Tool } from '../tools/tool.ts'
import { WeirPanel } from '../weir/panel.ts'
import type { Trouble } from '../weir/trouble.ts'
import { textButton } from './button.ts'
import { emptyState } from './empty-state.ts'
import { helpSheet } from './help.ts'
import { menu } from './menu.ts'
import { stylePanel } from './style-panel.ts'
import { textEditor } from './text-editor.ts'
import type { ThemeChoice } from './theme.ts'
import type { Toasts } from './toast.ts'
import { TOOL_LABELS, toolbar } from './toolbar.ts'
import { topBar } from './top-bar.ts'
import { viewBar } from './view-bar.ts'

interface Parts {
  readonly room: string
  readonly stage: HTMLElement
  readonly bench: Bench
  readonly tools: Record<string, Tool>
  readonly commands: Commands
  readonly connection: Connection
  readonly identity: Signal<Identity>
  readonly themeChoice: ThemeChoice
  readonly grid: Signal<boolean>
  readonly readOnly: Signal<boolean>
  readonly toasts: Toasts
  readonly announcer: Announcer
  readonly trouble: Trouble
}

function fileMenu({ room, bench: { board }, commands, themeChoice: { theme }, toasts }: Parts) {
  const nothing = () => toasts.say('The board is empty.')
  const exportPng = async () => {
    const image = await boardToPng(board.ordered(), theme.value)
    if (image) saveFile(`${room}.png`, image)
    else nothing()
  }
  const exportSvg = () => {
    const svg = boardToSvg(board.ordered(), theme.value)
    if (svg) saveFile(`${room}.svg`, new Blob([svg], { type: 'image/svg+xml' }))
    else nothing()
  }
  const exportJson = () =>
    saveFile(`${room}.json`, new Blob([boardToJson(board.ordered())], { type: 'application/json' }))
  const importJson = async () => {
    const file = await pickFile('.json,application/json')
    if (!file) return
    const drafts = file.size <= MAX_IMPORT_BYTES ? boardFromJson(await file.text()) : null
    if (!drafts) toasts.say('This file is no board exported from here.', 'warning')
    else {
      commands.insert(drafts)
      commands.fitAll()
      toasts.say(drafts.length === 1 ? '1 object added.' : `${drafts.length} objects added.`)
    }
  }
  return [
    { icon: 'download', label: 'Export as PNG', run: () => void exportPng() },
    { icon: 'download', label: 'Export as SVG', run: exportSvg },
    { icon: 'download', label: 'Export as JSON', run: exportJson },
    { icon: 'upload', label: 'Import JSON…', run: () => void importJson() },
  ] as const
}

export function furnish(parts: Parts): void {
  const {
    room,
    stage,
    bench,
    tools,
    commands,
    connection,
    identity,
    themeChoice,
    grid,
    readOnly,
    toasts,
    announcer,
    trouble,
  } = parts
  const { board, view, presence, tool, renderer, history } = bench
  const say = (text: string) => announcer.say(text)

  const pointer = new Pointer(stage, view, presence, tools, tool)
  const crosshair = new Crosshair(stage, view, renderer, presence, tools, tool, say)
  const follow = new Follow(presence, view)
  const reactionBar = reactions(stage, presence, view, say)
  textEditor(stage, board, history, view, renderer, bench.editing, themeChoice.theme)

  const help = helpSheet()
  const openHelp = () => help.showModal()
  const objects = new ObjectList(bench, () => toggleObjects())
  const weir = new WeirPanel(board, connection, trouble, () => toggleWeir())
  const toggleObjects = () => {
    if (objects.element.hidden && !weir.element.hidden) weir.toggle()
    objects.toggle()
  }
  const toggleWeir = () => {
    if (weir.element.hidden && !objects.element.hidden) objects.toggle()
    weir.toggle()
  }
  const toggleGrid = () => grid.set(!grid.value)
  const newRoom = () => location.assign(linkToRoom(randomRoomName()))
  const pickImage = async () => {
    if (board.readOnly) return
    const file = await pickFile('image/png,image/jpeg,image/webp,image/gif')
    if (file) await commands.addImage(file)
  }

  const items = menu([
    [
      { icon: 'plus', label: 'New board', run: newRoom },
      { icon: 'copy', label: 'Copy selection', shortcut: 'Ctrl+C', run: () => commands.copy() },
      { icon: 'copy', label: 'Paste', shortcut: 'Ctrl+V', run: () => commands.pasteStored() },
    ],
    fileMenu(parts),
    [
      { icon: 'list', label: 'List of objects', shortcut: 'B', run: toggleObjects },
      { icon: 'weir', label: 'The weir', shortcut: 'W', run: toggleWeir },
      { icon: 'grid', label: 'Grid on or off', shortcut: 'G', run: toggleGrid },
      { icon: 'theme', label: 'Dark or light', run: () => themeChoice.toggle() },
      { icon: 'help', label: 'Keys and gestures', shortcut: '?', run: openHelp },
    ],
  ])
  const people = roster(presence, identity, { follow: (id) => follow.toggle(id), following: follow.following })

  stage.append(emptyState(board))
  document.body.append(
    textButton('List of objects', toggleObjects, 'list', 'skip'),
    topBar({ room, people, pill: linePill(connection), menu: items, toggleWeir, toasts }),
    lineBanner(connection, newRoom),
    follow.element,
    toolbar(tool, readOnly, () => void pickImage()),
    stylePanel(bench, commands, themeChoice.theme, readOnly),
    viewBar(bench, commands, reactionBar),
    objects.element,
    weir.element,
    toasts.element,
    announcer.element,
    help,
  )
  listenToKeys({
    bench,
    commands,
    pointer,
    crosshair,
    stage,
    pickImage: () => void pickImage(),
    openHelp,
    toggleObjects,
    toggleWeir,
    toggleGrid,
    stopFollowing: () => follow.stop(),
  })

  connection.state.watch(({ is }) => {
    stage.dataset.line = is
  })
  tool.watch((name) => say(`Tool: ${TOOL_LABELS[name].label}`))
  bench.selection.watch((ids) => {
    if (ids.size > 0) say(ids.size === 1 ? '1 object selected' : `${ids.size} objects selected`)
  })
  if (!identity.value.chosen) document.getElementById('people')?.showPopover()
}
