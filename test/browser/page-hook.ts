import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'

interface Shape {
  readonly id: string
  readonly kind: string
  readonly box: readonly number[]
  readonly text: string
  readonly color: string
  readonly image: Uint8Array | null
  readonly points: readonly number[]
}

/** `window.yweir` of the page, as far as the tests look at it. */
export interface Hook {
  board: {
    doc: Y.Doc
    root: Y.Map<unknown>
    readOnly: boolean
    shapes: Map<string, Shape>
    ordered(): readonly Shape[]
    create(drafts: readonly object[]): string[]
    remove(ids: Iterable<string>): void
    transact(work: () => void): void
  }
  provider: { awareness: Awareness; synced: boolean; wsconnected: boolean }
  connection: {
    state: { value: { is: string } }
    unsent: { count: { value: number } }
    liveness: { resyncs: number; roundTrip: number | null }
    meter: { framesIn: number; framesOut: number; bytesIn: number; bytesOut: number }
    pause(): void
    connect(): Promise<void>
  }
  presence: {
    others: Map<number, { name: string; cursor: readonly number[] | null; selection: readonly string[] }>
  }
  view: {
    x: number
    y: number
    zoom: number
    panBy(dx: number, dy: number): void
    lookAt(centre: { x: number; y: number }, zoom?: number): void
    toScreen(point: { x: number; y: number }): { x: number; y: number }
  }
  bench: {
    tool: { value: string; set(name: string): void }
    selection: { value: ReadonlySet<string>; set(ids: ReadonlySet<string>): void }
  }
  commands: { fitAll(): void }
  trouble: {
    bots: ReadonlyArray<{ root: Y.Map<unknown>; synced: boolean }>
    freeze(ms?: number): void
    flood(edits?: number): void
    addBots(count?: number): void
    removeBots(): void
  }
}
