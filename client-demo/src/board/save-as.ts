/** A copy of this board under a new name: a way on from a board that is full, deleted or closed to us. */
import { generateNKeysBetween } from 'fractional-indexing'
import { IndexeddbPersistence, storeState } from 'y-indexeddb'
import * as Y from 'yjs'
import { rememberUnsent } from '../line/unsent.ts'
import { newId, storedShape } from './model.ts'
import type { Shape } from './shape.ts'

/**
 * Puts the shapes into this device's store of `room`; the page of that room takes them from there to the server. A fresh
 * document: nothing of the old one's past, which is often what made it too large. Rejects where nothing can be stored.
 */
export async function saveAsRoom(room: string, shapes: readonly Shape[]): Promise<void> {
  const doc = new Y.Doc()
  const store = new IndexeddbPersistence(`y-weir:${room}`, doc)
  await store.whenSynced
  const root = doc.getMap('shapes')
  const orders = generateNKeysBetween(null, null, shapes.length)
  doc.transact(() => {
    for (const [i, shape] of shapes.entries()) {
      const { image, ...rest } = shape
      root.set(newId(), storedShape({ ...rest, ...(image && { image }) }, orders[i]!))
    }
  })
  await storeState(store)
  await store.destroy()
  rememberUnsent(room, shapes.length)
}
