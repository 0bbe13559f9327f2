/** Everything around the board: the table of commands, and the bars, drawers and sheets that are made of it. */

import type { Announcer } from '../a11y/announcer.ts'
import { describeSelection, ObjectList } from '../a11y/object-list.ts'
import type { Point } from '../board/geometry.ts'
import { saveAsRoom } from '../board/save-as.ts'
import { allCommands } from '../commands/all-commands.ts'
import { CommandTable } from '../commands/command.ts'
import { boardFiles } from '../export/board-files.ts'
import { pickFiles } from '../export/files.ts'
import type { Attention } from '../input/attention.ts'
import { Crosshair } from '../input/crosshair.ts'
import { listenToKeys } from '../input/keyboard.ts'
import { Pointer } from '../input/pointer.ts'
import { hits } from '../kinds/kinds.ts'
import type { Connection } from '../line/connection.ts'
import type { Kept } from '../line/device-store.ts'
import { lineBanner, linePill } from '../line/line-pill.ts'
import { Follow } from '../people/follow.ts'
import type { Identity } from '../people/identity.ts'
import { reactions } from '../people/reactions.ts'
import { roster } from '../people/roster.ts'
import { copyLink, linkToRoom, randomRoomName } from '../room-name.ts'
import type { Signal } from '../signal.ts'
import type { Commands } from '../tools/commands.ts'
import type { SelectTool } from '../tools/select.ts'
import type { Bench, Press, Tool } from '../tools/tool.ts'
import { WeirPanel } from '../weir/panel.ts'
import { weirIsShown } from '../weir/shown.ts'
import type { Trouble } from '../weir/trouble.ts'
import { commandButton, textButton } from './button.ts'
import { commandPalette } from './command-palette.ts'
import { Drawers } from './drawers.ts'
import { emptyState } from './empty-state.ts'
import { helpSheet } from './help.ts'
import { contextMenu, mainMenu } from './menu.ts'
import { stylePanel } from './style-panel.ts'
import { textEditor } from './text-editor.ts'
import type { ThemeChoice } from './theme.ts'
import type { Toasts } from './toast.ts'
import { toolbar } from './toolbar.ts'
import { topBar } from './top-bar.ts'
import { viewBar } from './view-bar.ts'
import { wayBack } from './way-back.ts'

const menuOf = (weir: boolean) => [
  ['new-board', 'save-as', 'copy-link', 'palette'],
  ['copy', 'paste', 'select-all'],
  ['export-png', 'export-svg', 'export-json', 'import-json', 'print'],
  ['objects', ...(weir ? ['weir'] : []), 'grid', 'theme', 'help'],
]
const ON_OBJECTS = [['write'], ['cut', 'copy', 'paste', 'duplicate'], ['front', 'back'], ['delete']]
const ON_BOARD = [
  ['paste', 'select-all'],
  ['undo', 'redo'],
  ['fit-all', 'zoom-100', 'grid'],
]

interface Parts {
  readonly room: string
  readonly stage: HTMLElement
  readonly bench: Bench
  readonly tools: Record<string, Tool> & { readonly select: SelectTool }
  readonly ops: Commands
  readonly attention: Attention
  readonly connection: Connection
  readonly identity: Signal<Identity>
  readonly themeChoice: ThemeChoice
  readonly grid: Signal<boolean>
  readonly readOnly: Signal<boolean>
  readonly kept: Signal<Kept>
  readonly toasts: Toasts
  readonly announcer: Announcer
  readonly trouble: Trouble
}

const isField = (target: Node): boolean => target instanceof HTMLTextAreaElement

export function furnish(parts: Parts): CommandTable {
  const { room, stage, bench, tools, ops, attention, connection, identity } = parts
  const { themeChoice, grid, readOnly, kept, toasts, announcer, trouble } = parts
  const { board, view, presence, tool, renderer, history, selection } = bench
  const say = (text: string) => announcer.say(text)

  const follow = new Follow(presence, view, attention)
  const people = roster(attention, presence, identity, {
    follow: (id) => follow.toggle(id),
    following: follow.following,
  })
  const objects = new ObjectList(bench, () => drawers.close(objects))
  const weir: WeirPanel | null = weirIsShown()
    ? new WeirPanel(board, connection, trouble, () => weir && drawers.close(weir))
    : null
  const drawers = new Drawers(attention)

  const newBoard = () => location.assign(linkToRoom(randomRoomName()))
  const saveAsNewBoard = async () => {
    const next = randomRoomName()
    try {
      if (kept.value !== 'kept') throw new Error('nothing can be stored')
      await saveAsRoom(next, board.ordered())
      location.assign(linkToRoom(next))
    } catch {
      toasts.say('This browser stores nothing here. Export the board, and import it on a new one.', 'warning')
    }
  }
  const pickImages = async () => ops.addImages(await pickFiles('image/png,image/jpeg,image/webp,image/gif'))
  const table: CommandTable = new CommandTable(
    allCommands({
      bench,
      ops,
      attention,
      grid,
      dark: () => themeChoice.theme.value === 'dark',
      toggleTheme: () => themeChoice.toggle(),
      pickImage: () => void pickImages(),
      copyLink: () => void copyLink(room, toasts),
      newBoard,
      saveAsNewBoard: () => void saveAsNewBoard(),
      files: boardFiles(room, board, ops, themeChoice.theme, toasts),
      openHelp: () => help.open(),
      openPalette: () => palette.open(),
      openPeople: () => people.open(),
      toggleObjects: () => drawers.toggle(objects),
      toggleWeir: weir ? () => drawers.toggle(weir) : null,
    }),
  )
  for (const each of [selection, tool, readOnly, grid, themeChoice.theme] as Array<Signal<unknown>>)
    each.watch(table.touch)
  history.onChange(table.touch)

  const help = helpSheet(attention, table)
  const palette = commandPalette(attention, table)
  const atPointer = contextMenu(attention, table)
  const menuAt = (at: Point) => atPointer.show(at, selection.value.size > 0 ? ON_OBJECTS : ON_BOARD)
  const onMenu = (press: Press, at: Point) => {
    const top = board.ordered().findLast((shape) => hits(shape, press, press.slack))
    tool.set('select')
    if (!top) selection.set(new Set())
    else if (!selection.value.has(top.id)) selection.set(new Set([top.id]))
    menuAt(at)
  }
  const openContextMenu = () => {
    const around = ops.bounds()
    menuAt(view.toScreen(around ? { x: around.x + around.w / 2, y: around.y + around.h / 2 } : view.centre))
  }

  const pointer = new Pointer({ stage, view, presence, tools, tool, attention, onMenu })
  const crosshair = new Crosshair(attention, stage, view, renderer, presence, tools, tool, say)
  textEditor({
    stage,
    board,
    history,
    view,
    renderer,
    editing: bench.editing,
    theme: themeChoice.theme,
    attention,
    selection,
    toasts,
  })

  stage.append(emptyState(board, connection))
  document.body.append(
    textButton('List of objects', () => table.run('objects'), 'list', 'skip'),
    topBar({
      copyLink: () => table.run('copy-link'),
      room,
      people: people.element,
      pill: linePill(connection, kept),
      weir: weir && commandButton(table, 'weir', 'wide-only'),
      menu: mainMenu(attention, table, menuOf(weir !== null)),
    }),
    lineBanner(connection, () => board.shapes.size > 0, {
      newBoard,
      saveAsNewBoard: () => void saveAsNewBoard(),
      saveFile: () => table.run('export-json'),
    }),
    follow.element,
    wayBack(board, view, () => ops.fitAll()),
    toolbar(table, tool),
    stylePanel(bench, ops, table, themeChoice.theme, readOnly),
    viewBar(bench, table, reactions(attention, stage, presence, view, say)),
    objects.element,
    ...(weir ? [weir.element] : []),
    toasts.element,
    announcer.element,
    help.element,
    palette.element,
    atPointer.element,
  )
  listenToKeys({ bench, table, ops, attention, pointer, crosshair, select: tools.select, openContextMenu })
  // Anywhere in the window: a file that falls on a bar would make the browser leave the board for it.
  const isForBoard = ({ dataTransfer, target }: DragEvent) =>
    dataTransfer?.types.includes('Files') || (target instanceof Node && stage.contains(target) && !isField(target))
  window.addEventListener('dragover', (event) => {
    if (isForBoard(event)) event.preventDefault()
  })
  window.addEventListener('drop', (event) => {
    if (!isForBoard(event)) return
    event.preventDefault()
    const { left, top } = stage.getBoundingClientRect()
    const at = view.toBoard({ x: event.clientX - left, y: event.clientY - top })
    void ops.addImages([...(event.dataTransfer?.files ?? [])], at)
  })

  connection.state.watch(({ is }) => {
    stage.dataset.line = is
  })
  selection.watch((ids) => {
    if (ids.size > 0) say(describeSelection(ops.selected()))
  })
  tool.watch((name) => say(`Tool: ${table.get(`tool-${name}`).label}`))
  return table
}
