/**
 * Memory that a document's contents take beyond their bytes, read from what is live in it: shared types, and arrays and
 * objects inside values. Where every point of a stroke replaces the whole of it, what was replaced is not counted any more.
 */
import * as Y from 'yjs'

/** Memory a shared type and a container inside a value take beyond their bytes (measured, see update-check). */
export const TYPE_BYTES = 110
export const CONTAINER_BYTES = 56
/** Most weight of one byte of an update: a container is 2 bytes at least, a type 7. */
export const MOST_WEIGHT_PER_BYTE = CONTAINER_BYTES / 2

/** Structs and containers looked at between two pauses: a tenth of a millisecond. */
const STEP = 1024

/**
 * The weight in pieces, so that the reader can give the loop back between any two. What changes meanwhile may or may not be
 * in it.
 */
export function* liveWeight({ store }: Y.Doc): Generator<number> {
  let [weight, left] = [0, STEP]
  for (const client of [...store.clients.keys()]) {
    for (let clock = 0; clock < Y.getState(store, client); ) {
      // Found anew after a pause: structs split and merge.
      const structs = store.clients.get(client)!
      for (let i = Y.findIndexSS(structs, clock); i < structs.length && left > 0; i++) {
        const struct = structs[i]!
        clock = struct.id.clock + struct.length
        left--
        if (struct instanceof Y.GC || struct.deleted) continue
        const { content } = struct
        if (content instanceof Y.ContentType) weight += TYPE_BYTES
        else {
          const containers = containersOf(content)
          weight += containers * CONTAINER_BYTES
          left -= containers
        }
      }
      if (left > 0) continue
      yield weight
      weight = 0
      left = STEP
    }
  }
  yield weight
}

function containersOf(content: Y.Item['content']): number {
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON) {
    let containers = 0
    for (const value of content.arr) containers += containersIn(value)
    return containers
  }
  if (content instanceof Y.ContentEmbed) return containersIn(content.embed)
  return content instanceof Y.ContentFormat ? containersIn(content.value) : 0
}

function containersIn(value: unknown): number {
  if (!isContainer(value)) return 0
  let containers = 0
  const open: object[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    containers++
    for (const inner of Array.isArray(next) ? next : Object.values(next)) if (isContainer(inner)) open.push(inner)
  }
  return containers
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
}
