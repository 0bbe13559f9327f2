/**
 * What a document that broke can still tell: where boards are not stored it may be the only place that has everything.
 *   struct by struct, each for itself ──▶ an author's section ──▶ one update ──▶ slices in causal order, then the deletes
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import type { StateVector } from '../diff/diff-cursor.ts'
import { encodeDeletes } from '../diff/owed-deletes.ts'
import { checkUpdateInSteps } from '../update/update-check.ts'
import { sliceUpdate } from '../update/update-slices.ts'

type Struct = Y.Item | Y.GC

/** Structs read between two pauses: a millisecond. */
const STEP_STRUCTS = 1024
/** Checked between two pauses: about the same. */
const CHECK_BYTES = 262_144
/** An update that says nothing: what slicing hands out to give the loop back. */
const NOTHING_BYTES = 2

/**
 * Valid updates of about 64 KiB that hold all that can be read of `doc` below `level`, the vector before the transaction that
 * broke it. Nothing in it is trusted: a struct that cannot be written, or that no check would let in, is left out. `pause` is
 * awaited where the loop may be given back.
 */
export async function salvage(
  doc: Y.Doc,
  level: StateVector,
  pause: () => Promise<void>,
): Promise<readonly Uint8Array[]> {
  const sections: Uint8Array[] = []
  const deletes = Y.createDeleteSet()
  // The highest id goes first: in any other order Yjs loses data.
  for (const [client, all] of [...doc.store.clients].sort(([a], [b]) => b - a)) {
    const structs = all.filter((struct): struct is Struct => struct.id.clock < (level.get(client) ?? 0))
    deletes.clients.set(client, [])
    for (const { deleted, id, length } of structs) {
      if (deleted) deletes.clients.get(client)!.push({ clock: id.clock, len: length } as never)
    }
    let section = await sectionOf(structs, false, pause)
    if (section !== null && !(await isSound(section, pause))) section = await sectionOf(structs, true, pause)
    if (section !== null && (await isSound(section, pause))) sections.push(section)
  }
  const found: Uint8Array[] = []
  for (const update of [() => updateOf(sections), () => encodeDeletes(deletes)]) {
    await pause()
    for (const slice of sliceUpdate(update())) {
      if (slice.length > NOTHING_BYTES) found.push(slice)
      await pause()
    }
  }
  return found
}

/** An author's structs as a section of an update, with gaps for those that cannot be written; null when none can. */
async function sectionOf(
  structs: readonly Struct[],
  isDistrustful: boolean,
  pause: () => Promise<void>,
): Promise<Uint8Array | null> {
  const written: Uint8Array[] = []
  let upTo = 0
  let clock = structs[0]?.id.clock ?? 0
  const skipTo = (next: number): void => {
    if (next > clock) written.push(bytesOf(new Y.Skip(Y.createID(structs[0]!.id.client, clock), next - clock), 0)!)
    clock = Math.max(clock, next)
  }
  for (const [i, struct] of structs.entries()) {
    if (i % STEP_STRUCTS === STEP_STRUCTS - 1) await pause()
    const { id, length } = struct
    // A throw while structs were merged leaves one that holds the next, and the next beside it.
    const offset = clock - id.clock
    if (offset >= length || !isConsistent(struct)) continue
    if (offset < 0) skipTo(id.clock)
    const bytes = bytesOf(struct, Math.max(0, offset))
    if (bytes === null) continue
    if (isDistrustful && !(await isSound(section(Y.createID(id.client, clock), [bytes]), pause))) continue
    written.push(bytes)
    clock = id.clock + length
    upTo = written.length
  }
  return upTo === 0 ? null : section(structs[0]!.id, written.slice(0, upTo))
}

function isConsistent(struct: Struct): boolean {
  return struct instanceof Y.GC || struct.content.getLength() === struct.length
}

function bytesOf(struct: Struct | Y.Skip, offset: number): Uint8Array | null {
  // One for each: what was begun and threw leaves nothing behind.
  const encoder = new Y.UpdateEncoderV1()
  try {
    struct.write(encoder, offset)
    return encoder.toUint8Array()
  } catch {
    return null
  }
}

function section({ client, clock }: Y.ID, structs: readonly Uint8Array[]): Uint8Array {
  const head = encoding.createEncoder()
  encoding.writeVarUint(head, structs.length)
  encoding.writeVarUint(head, client)
  encoding.writeVarUint(head, clock)
  return Buffer.concat([encoding.toUint8Array(head), ...structs])
}

/** Without deletes. */
function updateOf(sections: readonly Uint8Array[]): Uint8Array {
  const head = encoding.createEncoder()
  encoding.writeVarUint(head, sections.length)
  return Buffer.concat([encoding.toUint8Array(head), ...sections, Uint8Array.of(0)])
}

async function isSound(section: Uint8Array, pause: () => Promise<void>): Promise<boolean> {
  const steps = checkUpdateInSteps(updateOf([section]), CHECK_BYTES)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value.ok
    await pause()
  }
}
