import { dragShapeTool } from './drag-shape.ts'
import { eraserTool } from './eraser.ts'
import { handTool } from './hand.ts'
import { penTool } from './pen.ts'
import { type SelectTool, selectTool } from './select.ts'
import type { Bench, Tool, ToolName } from './tool.ts'
import { writingTool } from './writing.ts'

/** Every tool that works with a pointer; `image` opens a file dialog instead (ui/toolbar). */
export function makeTools(bench: Bench): Record<Exclude<ToolName, 'image'>, Tool> & { select: SelectTool } {
  return {
    select: selectTool(bench),
    hand: handTool(bench),
    pen: penTool(bench),
    rect: dragShapeTool('rect', bench),
    ellipse: dragShapeTool('ellipse', bench),
    line: dragShapeTool('line', bench),
    arrow: dragShapeTool('arrow', bench),
    text: writingTool('text', bench),
    note: writingTool('note', bench),
    eraser: eraserTool(bench),
  }
}
