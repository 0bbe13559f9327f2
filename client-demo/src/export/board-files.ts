/** The board as files, and back: what the export and import commands do. */

import type { Board } from '../board/model.ts'
import type { Theme } from '../canvas/palette.ts'
import type { Signal } from '../signal.ts'
import type { Commands } from '../tools/commands.ts'
import type { Toasts } from '../ui/toast.ts'
import { boardFromJson, boardToJson, leftOutWords, MAX_IMPORT_BYTES } from './board-json.ts'
import { boardToPng } from './board-png.ts'
import { boardToSvg } from './board-svg.ts'
import { pickFile, saveFile } from './files.ts'

export interface BoardFiles {
  png(): void
  svg(): void
  json(): void
  open(): void
}

export function boardFiles(
  room: string,
  board: Board,
  ops: Commands,
  theme: Signal<Theme>,
  toasts: Toasts,
): BoardFiles {
  const nothing = () => toasts.say('The board is empty.')
  const savePng = async () => {
    const image = await boardToPng(board.ordered(), theme.value)
    if (image) saveFile(`${room}.png`, image)
    else nothing()
  }
  const openJson = async () => {
    const file = await pickFile('.json,application/json')
    if (!file) return
    const read = file.size <= MAX_IMPORT_BYTES ? boardFromJson(await file.text()) : null
    if (!read) {
      toasts.say('This file is no board exported from here.', 'warning')
      return
    }
    const added = ops.insert(read.drafts)
    ops.fitAll()
    const words = added === 1 ? '1 object added.' : `${added.toLocaleString('en')} objects added.`
    const without = leftOutWords(read)
    toasts.say(`${words} ${without}`.trim(), without ? 'warning' : 'plain')
  }
  return {
    png: () => void savePng(),
    svg() {
      const svg = boardToSvg(board.ordered(), theme.value)
      if (svg) saveFile(`${room}.svg`, new Blob([svg], { type: 'image/svg+xml' }))
      else nothing()
    },
    json() {
      saveFile(`${room}.json`, new Blob([boardToJson(board.ordered())], { type: 'application/json' }))
    },
    open: () => void openJson(),
  }
}
