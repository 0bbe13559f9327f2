import * as Y from 'yjs'
import type { Board } from './model.ts'

/**
 * Undo and redo of what this page did. One gesture is one step: `mark()` is called where a gesture begins, and everything up
 * to the next mark is taken together, however long it takes.
 */
export class History {
  readonly manager: Y.UndoManager
  /** Counts up with every step: changes of one step are one change to a person. */
  step = 0

  constructor(board: Board) {
    this.manager = new Y.UndoManager(board.root, {
      trackedOrigins: new Set([board.origin]),
      captureTimeout: Number.MAX_SAFE_INTEGER,
    })
  }

  get canUndo(): boolean {
    return this.manager.undoStack.length > 0
  }

  get canRedo(): boolean {
    return this.manager.redoStack.length > 0
  }

  /** Calls back whenever there may be more or less to undo or redo. */
  onChange(listener: () => void): void {
    for (const name of ['stack-item-added', 'stack-item-popped', 'stack-cleared'] as const)
      this.manager.on(name, listener)
  }

  mark(): void {
    this.step++
    this.manager.stopCapturing()
  }

  undo(): void {
    this.mark()
    this.manager.undo()
    this.mark()
  }

  redo(): void {
    this.mark()
    this.manager.redo()
    this.mark()
  }
}
