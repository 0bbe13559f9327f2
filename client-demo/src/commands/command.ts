import { Event } from '../signal.ts'
import type { IconName } from '../ui/icons.ts'

export const GROUPS = { tools: 'Tools', objects: 'Objects', board: 'Board', view: 'View' } as const
export type Group = keyof typeof GROUPS

/** Everything that can be done at a press of a key or a button; toolbar, menus, tooltips, help and palette are made of these. */
export interface Command {
  readonly id: string
  readonly label: string
  readonly icon: IconName
  readonly group: Group
  /** As in keys.ts; the first one is shown. */
  readonly keys?: readonly string[]
  /** Other words under which the palette finds it. */
  readonly also?: string
  /** Its keys are a browser's own event (copy, cut, paste), which brings the clipboard along; here they are only shown. */
  readonly keysAreEvents?: boolean
  /** Runs again while the key is held. */
  readonly repeats?: boolean
  /** Absent: always. */
  readonly when?: () => boolean
  /** For what is on or off. */
  readonly pressed?: () => boolean
  run(): void
}

export class CommandTable {
  readonly #byId = new Map<string, Command>()
  /** What is enabled or pressed may be different now. */
  readonly changed = new Event<void>()
  #announced = false

  constructor(readonly all: readonly Command[]) {
    for (const command of all) this.#byId.set(command.id, command)
  }

  get(id: string): Command {
    const command = this.#byId.get(id)
    if (!command) throw new Error(`no such command: ${id}`)
    return command
  }

  isEnabled = (command: Command): boolean => command.when?.() ?? true

  run(id: string): boolean {
    const command = this.get(id)
    if (!this.isEnabled(command)) return false
    command.run()
    return true
  }

  /** Tells once per frame at most: a selection of thousands changes in many steps. */
  touch = (): void => {
    if (this.#announced) return
    this.#announced = true
    requestAnimationFrame(() => {
      this.#announced = false
      this.changed.emit()
    })
  }
}
