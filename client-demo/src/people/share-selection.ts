import { union } from '../board/geometry.ts'
import { boundsOf } from '../kinds/kinds.ts'
import type { Bench } from '../tools/tool.ts'
import { MAX_SHARED_SELECTION } from './person.ts'

/** Others see what is selected: each object up to 200, beyond that the rectangle around all of them. */
export function shareSelection({ board, selection, presence, renderer }: Bench): void {
  selection.watch((ids) => {
    if (ids.size <= MAX_SHARED_SELECTION) presence.show({ selection: [...ids], selectionRect: null })
    else {
      const around = union([...ids].flatMap((id) => board.shapes.get(id) ?? []).map(boundsOf))
      presence.show({ selection: [], selectionRect: around && [around.x, around.y, around.w, around.h] })
    }
    renderer.requestLive()
  })
  board.changed.on((changed) => {
    const gone = [...changed].filter((id) => selection.value.has(id) && !board.shapes.has(id))
    if (gone.length > 0) selection.set(new Set([...selection.value].filter((id) => board.shapes.has(id))))
  })
}
