/**
 * Close code 4409: somebody else writes under this page's client id, a chance of one in billions or a copied tab. Two documents
 * with different content under one id can never be merged, so this page starts anew with a fresh one (and a fresh id): what it
 * wrote under the taken id is laid aside on the device, the page reloads, gets the board from the server and adds its own again.
 *   4409 ──layAside──▶ store `y-weir:carry:<room>` ──reload, first sync──▶ addAgain
 */
import { clearDocument, IndexeddbPersistence, storeState } from 'y-indexeddb'
import * as Y from 'yjs'
import type { Board } from '../board/model.ts'

const carryName = (room: string): string => `y-weir:carry:${room}`
const flagOf = carryName

/** Text that a client wrote, and the text without it. */
interface Words {
  readonly all: string
  readonly others: string
}

const isOf = (client: number, item: Y.Item | undefined): boolean => item?.id.client === client

function wordsOf(text: Y.Text, client: number): Words | null {
  let others = ''
  let own = false
  for (let item = text._start; item !== null; item = item.right) {
    if (item.deleted || !(item.content instanceof Y.ContentString)) continue
    if (isOf(client, item)) own = true
    else others += item.content.str
  }
  return own ? { all: text.toString(), others } : null
}

function plainCopy(value: unknown): unknown {
  if (value instanceof Y.Text) return new Y.Text(value.toString())
  if (value instanceof Y.Array) return Y.Array.from(value.toArray() as number[][])
  return value
}

/** What was written under a client id, as a document of its own: the shapes with the fields that are its own. */
export function writtenBy(root: Y.Map<unknown>, client: number): Y.Doc {
  const doc = new Y.Doc()
  const own = doc.getMap('shapes')
  const words = doc.getMap<Words>('words')
  doc.transact(() => {
    for (const [id, stored] of root.entries()) {
      if (!(stored instanceof Y.Map)) continue
      const whole = isOf(client, root._map.get(id))
      const copy = new Y.Map<unknown>()
      let some = whole
      for (const [name, value] of stored.entries()) {
        if (!whole && !isOf(client, stored._map.get(name))) continue
        copy.set(name, plainCopy(value))
        some = true
      }
      if (some) own.set(id, copy)
      const text = stored.get('text')
      const written = !whole && text instanceof Y.Text ? wordsOf(text, client) : null
      if (written) words.set(id, written)
    }
  })
  return doc
}

/** Adds to a board what `writtenBy` found, where it is not there already; nothing of anybody else's is taken away. */
export function addAgain(board: Board, from: Y.Doc): void {
  board.transact(() => {
    for (const [id, stored] of from.getMap('shapes').entries()) {
      if (!(stored instanceof Y.Map)) continue
      const there = board.root.get(id)
      const target = there instanceof Y.Map ? there : null
      // Half an object whose other half was deleted meanwhile stays deleted.
      if (!target && !stored.has('kind')) continue
      const next: Y.Map<unknown> = target ?? new Y.Map()
      for (const [name, value] of stored.entries()) {
        const now = target?.get(name)
        if (now instanceof Y.AbstractType || JSON.stringify(now) === JSON.stringify(value)) continue
        next.set(name, plainCopy(value))
      }
      if (!target) board.root.set(id, next)
    }
  })
  for (const [id, { all, others }] of from.getMap<Words>('words').entries()) {
    const now = board.text(id)?.toString()
    if (now === undefined || now === all) continue
    let at = 0
    while (at < others.length && others[at] === all[at]) at++
    const insert = all.slice(at, at + all.length - others.length)
    if (!now.includes(insert)) board.writeText(id, { at: Math.min(at, now.length), remove: 0, insert })
  }
}

/** Lays this page's own aside and forgets the rest of the device's copy; the caller reloads the page afterwards. */
export async function layAside(room: string, root: Y.Map<unknown>, client: number): Promise<void> {
  const carry = writtenBy(root, client)
  const store = new IndexeddbPersistence(carryName(room), carry)
  await store.whenSynced
  await storeState(store)
  await store.destroy()
  localStorage.setItem(flagOf(room), '1')
  await clearDocument(`y-weir:${room}`)
}

/** After the first sync: what was laid aside, if anything, comes back. True when something did. */
export async function takeBack(room: string, board: Board): Promise<boolean> {
  try {
    if (localStorage.getItem(flagOf(room)) === null) return false
  } catch {
    return false
  }
  const carry = new Y.Doc()
  const store = new IndexeddbPersistence(carryName(room), carry)
  await store.whenSynced
  addAgain(board, carry)
  localStorage.removeItem(flagOf(room))
  await store.clearData()
  return true
}
