/**
 * Two clients that write under one client id: what the second writes bears clocks that the document has, with other content. Yjs
 * takes it for known and leaves it out; nothing pends, nothing throws, and the two boards differ for good.
 *
 * A client that sends again what it sent before says the same as the document, place and content. What may differ without
 * anybody having contradicted is let pass: what is deleted, halves of surrogate pairs (Yjs replaces them where it splits), and
 * what is inside of objects, which pages change in place although they should not.
 */
import * as Y from 'yjs'

/** Structs that are compared at most, of one update: those of an edit, and of a resend enough to tell. */
const MAX_COMPARED = 256

/** The first place where an update says something else than the document about the same clocks, or null. */
export function findContradiction(doc: Y.Doc, update: Uint8Array): Y.ID | null {
  let compared = 0
  for (const struct of Y.decodeUpdate(update).structs) {
    if (!(struct instanceof Y.Item) || struct.content instanceof Y.ContentDeleted) continue
    const { client, clock } = struct.id
    if (clock >= Y.getState(doc.store, client)) continue
    if (++compared > MAX_COMPARED) return null
    const structs = doc.store.clients.get(client)!
    for (let i = Y.findIndexSS(structs, clock); i < structs.length; i++) {
      const there = structs[i]!
      if (there.id.clock >= clock + struct.length) break
      if (there instanceof Y.Item && !there.deleted && !sayTheSame(doc, struct, there)) {
        return Y.createID(client, Math.max(clock, there.id.clock))
      }
    }
  }
  return null
}

/** `sent` is as it was decoded: its parent is a root's name or an id, and only where it has no origins. */
function sayTheSame(doc: Y.Doc, sent: Y.Item, there: Y.Item): boolean {
  const from = Math.max(sent.id.clock, there.id.clock)
  const to = Math.min(sent.id.clock + sent.length, there.id.clock + there.length)
  const [origin, originThere] = [originAt(sent, from), originAt(there, from)]
  if (!Y.compareIDs(origin, originThere) || !Y.compareIDs(sent.rightOrigin, there.rightOrigin)) return false
  if (origin === null && sent.rightOrigin === null && !isSameParent(doc, sent, there)) return false
  return isSameContent(sent.content, there.content, from - sent.id.clock, from - there.id.clock, to - from)
}

/** What the unit at a clock follows: within a struct the unit before it. */
function originAt({ id, origin }: Y.Item, clock: number): Y.ID | null {
  return clock === id.clock ? origin : Y.createID(id.client, clock - 1)
}

function isSameParent(doc: Y.Doc, sent: Y.Item, there: Y.Item): boolean {
  if (sent.parentSub !== there.parentSub) return false
  const parent = there.parent as Y.AbstractType<unknown>
  const said = sent.parent as unknown as Y.ID | string
  return typeof said === 'string'
    ? doc.share.get(said) === (parent as unknown)
    : Y.compareIDs(said, parent._item?.id ?? null)
}

type Content = Y.Item['content']

/** `from` and `fromThere`: where in the contents the `length` units begin that are compared. */
function isSameContent(sent: Content, there: Content, from: number, fromThere: number, length: number): boolean {
  if (sent.constructor !== there.constructor) return false
  if (sent instanceof Y.ContentString && there instanceof Y.ContentString) {
    return isSameText(sent.str.slice(from, from + length), there.str.slice(fromThere, fromThere + length))
  }
  if (sent instanceof Y.ContentFormat && there instanceof Y.ContentFormat) {
    return sent.key === there.key && isSameValue(sent.value, there.value)
  }
  if (sent instanceof Y.ContentType && there instanceof Y.ContentType) {
    return sent.type.constructor === there.type.constructor
  }
  if (sent instanceof Y.ContentDoc && there instanceof Y.ContentDoc) return sent.doc.guid === there.doc.guid
  const [values, valuesThere] = [sent.getContent(), there.getContent()]
  for (let i = 0; i < length; i++) if (!isSameValue(values[from + i], valuesThere[fromThere + i])) return false
  return true
}

function isSameText(sent: string, there: string): boolean {
  if (sent === there) return true
  if (sent.length !== there.length) return false
  for (let i = 0; i < sent.length; i++) {
    const [a, b] = [sent.charCodeAt(i), there.charCodeAt(i)]
    if (a !== b && !(isHalf(a) && isHalf(b))) return false
  }
  return true
}

/** Half of a surrogate pair, or what Yjs puts in its place. */
function isHalf(unit: number): boolean {
  return (unit & 0xf800) === 0xd800 || unit === 0xfffd
}

function isSameValue(sent: unknown, there: unknown): boolean {
  if (typeof sent === 'object' && typeof there === 'object' && sent !== null && there !== null) {
    return Array.isArray(sent) === Array.isArray(there)
  }
  if (typeof sent === 'string' && typeof there === 'string') return isSameText(sent, there)
  return Object.is(sent, there)
}
