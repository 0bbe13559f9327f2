import { IndexeddbPersistence } from 'y-indexeddb'
import type * as Y from 'yjs'
import { type Signal, signal } from '../signal.ts'

/** The store must not keep anybody waiting: without it the server brings the board. */
const PATIENCE_MS = 1_500

/** `not-kept`: this browser stores nothing for this page (private window, switched off): what is drawn lives in the tab. */
export type Kept = 'opening' | 'kept' | 'not-kept'

/** The board's copy on this device; `ready` when it was read, or is not worth waiting for. */
export function openDeviceStore(room: string, doc: Y.Doc): { kept: Signal<Kept>; ready: Promise<void> } {
  const kept = signal<Kept>('opening')
  const opened = canStore().then(async (can) => {
    if (!can) return kept.set('not-kept')
    await new IndexeddbPersistence(`y-weir:${room}`, doc).whenSynced
    kept.set('kept')
  })
  const ready = Promise.race([opened, new Promise<void>((done) => setTimeout(done, PATIENCE_MS))])
  return { kept, ready }
}

/** Asked with a store of its own: the library's promise never settles where opening fails. */
function canStore(): Promise<boolean> {
  return new Promise((done) => {
    try {
      const request = indexedDB.open('y-weir:probe')
      request.onsuccess = () => {
        request.result.close()
        done(true)
      }
      request.onerror = () => done(false)
    } catch {
      done(false)
    }
  })
}
