import type { Bench, Press, Tool } from './tool.ts'

export function handTool({ view }: Bench): Tool {
  let grabbed: Press | null = null
  return {
    cursor: 'grab',
    down(press) {
      grabbed = press
    },
    move(press) {
      // The grabbed board point stays under the pointer, so the press is given in the coordinates of the moved view.
      if (grabbed) view.panBy((press.x - grabbed.x) * view.zoom, (press.y - grabbed.y) * view.zoom)
    },
    up() {
      grabbed = null
    },
    cancel() {
      grabbed = null
    },
  }
}
