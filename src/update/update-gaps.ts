/**
 * Would Yjs park a part of this update? It parks whatever leans on a struct that is not there, looks at it again with every
 * later update (quadratic: 3 000 such updates block the loop for 23 s) and hands it on to everybody with its state.
 */

import { findClient, KIND, StructWalk } from './struct-walk.ts'
import type { KnownClock } from './unknown-deletes.ts'
import type { UpdateSummary } from './update-scan.ts'

/** The first clock that is missing, and whose. */
export interface Gap {
  readonly client: number
  readonly clock: number
}

/**
 * The first struct that an update needs and that neither the document nor the update's own sections have, or null: applied
 * to a document whose clocks are `known`, the update then parks nothing. Linear, one or two walks like the
 * check's. Bytes that checkUpdate would refuse are not judged: null.
 */
export function findGap(bytes: Uint8Array, known: KnownClock): Gap | null {
  const gap = gapIn(bytes, known)
  // A walk that is kept for the next update must not keep this one alive.
  walk.bytes = NO_BYTES
  return gap
}

/**
 * The same from what the check found, where that is enough: nothing in the update leans on another author, as when people
 * draw side by side. Undefined: look at the bytes.
 */
export function gapOf({ sections, skips, leansOnOthers }: UpdateSummary, known: KnownClock): Gap | null | undefined {
  if (leansOnOthers || skips > 0) return undefined
  for (const { client, from } of sections) {
    const clock = known(client)
    if (from > clock) return { client, clock }
  }
  return null
}

/** One for all calls, which are not re-entrant: making one costs more than walking over a small update. */
const walk = new StructWalk()
const NO_BYTES = new Uint8Array(0)

function gapIn(bytes: Uint8Array, known: KnownClock): Gap | null {
  walk.begin(bytes)
  /** Per author in descending order: the clock up to which the document has it, once the update is in. */
  const clients: number[] = []
  const ends: number[] = []
  let leansOnOthers = false
  const sections = walk.sections()
  for (let i = 0; i < sections; i++) {
    if (!walk.section()) return null
    let end = known(walk.client)
    for (let left = walk.structCount; left > 0; left--) {
      if (!walk.struct()) return null
      if (walk.kind === KIND.skip) continue
      if (walk.clock > end) return { client: walk.client, clock: end }
      end = Math.max(end, walk.clockEnd)
      leansOnOthers ||= walk.leansOnOthers
    }
    clients.push(walk.client)
    ends.push(end)
  }
  if (!leansOnOthers) return null
  // Only now is it known what each author's section brings: a second walk over what leans on others.
  walk.begin(bytes)
  walk.sections()
  for (let i = 0; i < sections; i++) {
    walk.section()
    const have = known(walk.client)
    for (let left = walk.structCount; left > 0; left--) {
      walk.struct()
      // What the document has already is not looked at again.
      if (walk.clockEnd <= have) continue
      const gap =
        missing(walk.originClient, walk.originClock, clients, ends, known) ??
        missing(walk.rightClient, walk.rightClock, clients, ends, known) ??
        missing(walk.parentClient, walk.parentClock, clients, ends, known)
      if (gap !== undefined) return gap
    }
  }
  return null
}

function missing(
  client: number,
  clock: number,
  clients: readonly number[],
  ends: readonly number[],
  known: KnownClock,
): Gap | undefined {
  if (!walk.isOther(client)) return undefined
  const section = findClient(clients, client)
  const end = section < 0 ? known(client) : ends[section]!
  return clock < end ? undefined : { client, clock: end }
}
