/** The table of commands. What a command needs comes in as `CommandParts`; where it is shown is up to ui/. */
import type { Attention } from '../input/attention.ts'
import type { Signal } from '../signal.ts'
import type { Commands } from '../tools/commands.ts'
import type { Bench, ToolName } from '../tools/tool.ts'
import { TOOL_NAMES } from '../tools/tool.ts'
import type { Command } from './command.ts'

export interface CommandParts {
  readonly bench: Bench
  readonly ops: Commands
  readonly attention: Attention
  readonly grid: Signal<boolean>
  readonly dark: () => boolean
  readonly toggleTheme: () => void
  readonly pickImage: () => void
  readonly copyLink: () => void
  readonly newBoard: () => void
  readonly saveAsNewBoard: () => void
  readonly files: { png(): void; svg(): void; json(): void; open(): void }
  readonly openHelp: () => void
  readonly openPalette: () => void
  readonly openPeople: () => void
  readonly toggleObjects: () => void
  /** Null where the weir is not for guests to find. */
  readonly toggleWeir: (() => void) | null
}

const TOOLS: Record<ToolName, { label: string; key: string; also?: string }> = {
  select: { label: 'Select', key: 'V', also: 'pointer move arrow' },
  hand: { label: 'Move the view', key: 'H', also: 'hand pan' },
  pen: { label: 'Pen', key: 'P', also: 'draw pencil freehand' },
  rect: { label: 'Rectangle', key: 'R', also: 'box square' },
  ellipse: { label: 'Ellipse', key: 'O', also: 'circle oval' },
  line: { label: 'Line', key: 'L' },
  arrow: { label: 'Arrow', key: 'A' },
  text: { label: 'Text', key: 'T', also: 'write type' },
  note: { label: 'Sticky note', key: 'N', also: 'post-it card' },
  image: { label: 'Image', key: 'I', also: 'picture photo upload' },
  eraser: { label: 'Eraser', key: 'E', also: 'delete rub out' },
}

/** Reading is all that is left of the tools on a board that cannot be written. */
const READING: ReadonlySet<ToolName> = new Set(['select', 'hand'])
const ZOOM_STEP = 1.25

function toolCommands({ bench: { board, tool }, pickImage }: CommandParts): Command[] {
  return TOOL_NAMES.map((name) => ({
    id: `tool-${name}`,
    icon: name,
    group: 'tools',
    label: TOOLS[name].label,
    keys: [TOOLS[name].key],
    ...(TOOLS[name].also && { also: TOOLS[name].also }),
    when: () => !board.readOnly || READING.has(name),
    ...(name !== 'image' && { pressed: () => tool.value === name }),
    run: name === 'image' ? pickImage : () => tool.set(name),
  }))
}

function objectCommands({ bench, ops, attention }: CommandParts): Command[] {
  const { board, history, selection, editing } = bench
  const some = () => selection.value.size > 0
  const writable = () => !board.readOnly
  const change = () => some() && writable()
  // A stroke in progress is not taken away under the pen.
  const still = () => writable() && !attention.has('gesture')
  const writes = () => selection.value.size === 1 && board.text([...selection.value][0]!) !== null && writable()
  const group = 'objects'
  return [
    {
      id: 'undo',
      label: 'Undo',
      icon: 'undo',
      group,
      keys: ['Mod+Z'],
      repeats: true,
      when: () => still() && history.canUndo,
      run: () => history.undo(),
    },
    {
      id: 'redo',
      label: 'Redo',
      icon: 'redo',
      group,
      keys: ['Mod+Shift+Z', 'Mod+Y'],
      repeats: true,
      when: () => still() && history.canRedo,
      run: () => history.redo(),
    },
    {
      id: 'cut',
      label: 'Cut',
      icon: 'cut',
      group,
      keys: ['Mod+X'],
      keysAreEvents: true,
      when: change,
      run: () => ops.cut(),
    },
    {
      id: 'copy',
      label: 'Copy',
      icon: 'copy',
      group,
      keys: ['Mod+C'],
      keysAreEvents: true,
      when: some,
      run: () => ops.copy(),
    },
    {
      id: 'paste',
      label: 'Paste',
      icon: 'paste',
      group,
      keys: ['Mod+V'],
      keysAreEvents: true,
      when: writable,
      run: () => ops.pasteStored(),
    },
    {
      id: 'duplicate',
      label: 'Duplicate',
      icon: 'duplicate',
      group,
      keys: ['Mod+D'],
      when: change,
      run: () => ops.duplicate(),
    },
    {
      id: 'front',
      label: 'Bring to front',
      icon: 'front',
      group,
      keys: ['Mod+]'],
      when: change,
      run: () => ops.restack('front'),
    },
    {
      id: 'back',
      label: 'Send to back',
      icon: 'back',
      group,
      keys: ['Mod+['],
      when: change,
      run: () => ops.restack('back'),
    },
    {
      id: 'write',
      label: 'Write in it',
      icon: 'text',
      group,
      keys: ['Enter'],
      also: 'edit text',
      when: writes,
      run: () => editing.set([...selection.value][0]!),
    },
    {
      id: 'delete',
      label: 'Delete',
      icon: 'trash',
      group,
      keys: ['Delete', 'Backspace'],
      also: 'remove',
      when: change,
      run: () => ops.remove(),
    },
    {
      id: 'select-all',
      label: 'Select everything',
      icon: 'selectAll',
      group,
      keys: ['Mod+A'],
      run: () => ops.selectAll(),
    },
    {
      id: 'next',
      label: 'Select the next object',
      icon: 'next',
      group,
      keys: ['.'],
      repeats: true,
      run: () => ops.selectNext(1),
    },
    {
      id: 'previous',
      label: 'Select the previous object',
      icon: 'previous',
      group,
      keys: [','],
      repeats: true,
      run: () => ops.selectNext(-1),
    },
  ]
}

function boardCommands({
  newBoard,
  saveAsNewBoard,
  copyLink,
  files,
  openPeople,
  bench: { board },
}: CommandParts): Command[] {
  const group = 'board'
  return [
    { id: 'new-board', label: 'New board', icon: 'plus', group, run: newBoard },
    {
      id: 'save-as',
      label: 'Save as a new board',
      icon: 'duplicate',
      group,
      also: 'copy',
      when: () => board.shapes.size > 0,
      run: saveAsNewBoard,
    },
    { id: 'copy-link', label: 'Copy the link', icon: 'link', group, also: 'share invite', run: copyLink },
    { id: 'people', label: 'People and your name', icon: 'eye', group, also: 'follow who colour', run: openPeople },
    { id: 'export-png', label: 'Export as PNG', icon: 'download', group, also: 'save picture', run: files.png },
    { id: 'export-svg', label: 'Export as SVG', icon: 'download', group, also: 'save picture', run: files.svg },
    { id: 'export-json', label: 'Export as JSON', icon: 'download', group, also: 'save backup', run: files.json },
    {
      id: 'import-json',
      label: 'Import JSON…',
      icon: 'upload',
      group,
      also: 'open load backup',
      when: () => !board.readOnly,
      run: files.open,
    },
    { id: 'print', label: 'Print…', icon: 'print', group, keys: ['Mod+P'], run: () => window.print() },
  ]
}

function viewCommands(parts: CommandParts): Command[] {
  const { bench, ops, grid, dark, toggleTheme, openHelp, openPalette, toggleObjects, toggleWeir } = parts
  const { view } = bench
  const group = 'view'
  const zoomBy = (factor: number) => () => view.zoomTo(view.zoom * factor)
  return [
    {
      id: 'zoom-in',
      label: 'Zoom in',
      icon: 'plus',
      group,
      keys: ['+', 'Mod++'],
      repeats: true,
      run: zoomBy(ZOOM_STEP),
    },
    {
      id: 'zoom-out',
      label: 'Zoom out',
      icon: 'minus',
      group,
      keys: ['-', 'Mod+-'],
      repeats: true,
      run: zoomBy(1 / ZOOM_STEP),
    },
    { id: 'zoom-100', label: 'Zoom to 100 %', icon: 'fit', group, keys: ['0', 'Mod+0'], run: () => view.zoomTo(1) },
    {
      id: 'fit-all',
      label: 'Show everything',
      icon: 'fit',
      group,
      keys: ['1'],
      also: 'fit find lost',
      run: () => ops.fitAll(),
    },
    {
      id: 'grid',
      label: 'Grid',
      icon: 'grid',
      group,
      keys: ['G'],
      pressed: () => grid.value,
      run: () => grid.set(!grid.value),
    },
    { id: 'theme', label: 'Dark', icon: 'theme', group, also: 'light theme night', pressed: dark, run: toggleTheme },
    {
      id: 'objects',
      label: 'List of objects',
      icon: 'list',
      group,
      keys: ['B'],
      also: 'find search',
      run: toggleObjects,
    },
    ...(toggleWeir
      ? [
          {
            id: 'weir',
            label: 'The weir',
            icon: 'weir',
            group,
            keys: ['W'],
            also: 'trouble bots',
            run: toggleWeir,
          } as const,
        ]
      : []),
    {
      id: 'palette',
      label: 'All commands…',
      icon: 'search',
      group,
      keys: ['Mod+K'],
      also: 'palette',
      run: openPalette,
    },
    { id: 'help', label: 'Keys and gestures', icon: 'help', group, keys: ['?'], also: 'shortcuts help', run: openHelp },
  ]
}

export const allCommands = (parts: CommandParts): Command[] => [
  ...toolCommands(parts),
  ...objectCommands(parts),
  ...boardCommands(parts),
  ...viewCommands(parts),
]
