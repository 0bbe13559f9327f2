/**
 * Parts already written, shared by cursors that stand at the same place.
 *   sent vector ──▶ place ──link──▶ part, next place ──link──▶ …
 * A place is one exact sent vector. Cursors keep the place they stand at, so that following a link compares nothing.
 *
 * Why a part made long ago is still right: its clock ranges begin at the place's vector, a clock's content and origins
 * never change, and what was deleted or collected since is told by the delete sets that a cursor sends after its structs.
 * Only a part that ended because nothing was left (`exhausted`) says something about the document of its moment.
 */
import type { StructPart } from './part-writer.ts'

/** Client id → the clock below which everything of that author is there. */
export type StateVector = ReadonlyMap<number, number>

/** The parts of one link; at most one, for the part size asked for last. */
interface Link {
  readonly from: Place
  readonly to: Place
  readonly part: StructPart
  readonly partBytes: number
  /** Bound of the groups it keeps together; it matters only to a part that makes receivers tidy. */
  readonly wholeBytes: number
  /** Document version an exhausted part belongs to. */
  readonly version: number
  readonly cost: number
  usedAt: number
}

/** No version: a vector that is whole. */
export const WHOLE = -1

export class Place {
  link: Link | null = null
  /** Parts from here on that are not worth a search for where they should end: what goes together is too long. */
  blindParts = 0
  /** The author with whom a search for groups should begin: the one before ended while others waited for it. */
  beginWith: number | null = null
}

interface KnownVector {
  readonly vector: StateVector
  readonly version: number
  readonly hash: number
  readonly place: Place
  usedAt: number
}

export interface DiffCacheLimits {
  /** Bytes of parts kept per room; the least recently used go first. 64 parts: joiners a few seconds apart share. */
  readonly bytes: number
  /** Lookups after which an entry nobody used is dropped. */
  readonly idleLookups: number
  /** Entries of all the vectors kept to recognise the next cursor that starts at the same one. */
  readonly vectorEntries: number
}

export const DIFF_CACHE_LIMITS: DiffCacheLimits = { bytes: 4 * 1024 * 1024, idleLookups: 4096, vectorEntries: 65_536 }

/** What a part costs beside its bytes: objects, and two numbers per author. */
const LINK_BYTES = 256
const REACHED_BYTES = 64

export class DiffCache {
  private readonly limits: DiffCacheLimits
  /** Least recently used first. */
  private readonly links = new Set<Link>()
  private vectors: KnownVector[] = []
  private vectorEntries = 0
  private held = 0
  private lookups = 0

  constructor(limits: DiffCacheLimits) {
    this.limits = limits
  }

  /** Bytes of the parts held, with what surrounds them. */
  get bytes(): number {
    return this.held
  }

  /** `version`: `vector` is what differs from the document of that version; `WHOLE` when it is all there is to say. */
  placeOf(vector: StateVector, version: number): Place {
    const hash = hashOf(vector)
    const at = this.vectors.findIndex(
      (known) =>
        known.version === version && (known.vector === vector || (known.hash === hash && equal(known.vector, vector))),
    )
    const known = at < 0 ? { vector, version, hash, place: new Place(), usedAt: 0 } : this.vectors.splice(at, 1)[0]!
    if (at < 0) this.vectorEntries += vector.size + 1
    known.usedAt = this.lookups
    this.vectors.push(known)
    while (this.vectorEntries > this.limits.vectorEntries && this.vectors.length > 1) this.forgetOldestVector()
    return known.place
  }

  recall(place: Place, partBytes: number, wholeBytes: number, version: number): { part: StructPart; to: Place } | null {
    this.lookups++
    this.expire()
    const { link } = place
    if (link === null || link.partBytes !== partBytes) return null
    if (link.part.makesTidy && link.wholeBytes !== wholeBytes) return null
    if (link.part.exhausted && link.version !== version) return null
    link.usedAt = this.lookups
    if (this.links.delete(link)) this.links.add(link)
    return link
  }

  remember(from: Place, partBytes: number, wholeBytes: number, version: number, part: StructPart): Place {
    const to = new Place()
    if (from.link !== null) this.forget(from.link)
    const cost = part.update.length + (part.deletes?.length ?? 0) + LINK_BYTES + part.reached.length * REACHED_BYTES
    if (cost > this.limits.bytes) return to
    const link: Link = { from, to, part, partBytes, wholeBytes, version, cost, usedAt: this.lookups }
    from.link = link
    this.links.add(link)
    this.held += cost
    for (const oldest of this.links) {
      if (this.held <= this.limits.bytes) break
      this.forget(oldest)
    }
    return to
  }

  clear(): void {
    for (const link of this.links) link.from.link = null
    this.links.clear()
    this.held = 0
    this.vectors = []
    this.vectorEntries = 0
  }

  private expire(): void {
    const before = this.lookups - this.limits.idleLookups
    for (const oldest of this.links) {
      if (oldest.usedAt >= before) break
      this.forget(oldest)
    }
    while (this.vectors.length > 0 && this.vectors[0]!.usedAt < before) this.forgetOldestVector()
  }

  private forget(link: Link): void {
    link.from.link = null
    if (this.links.delete(link)) this.held -= link.cost
  }

  private forgetOldestVector(): void {
    const oldest = this.vectors.shift()
    if (oldest !== undefined) this.vectorEntries -= oldest.vector.size + 1
  }
}

/** The same for any order of the entries, since receivers encode theirs in any order. */
function hashOf(vector: StateVector): number {
  let hash = vector.size
  for (const [client, clock] of vector) {
    let mixed = Math.imul(client ^ (client >>> 15), 0x2c1b3c6d) ^ Math.imul(clock + 0x9e3779b9, 0x297a2d39)
    mixed ^= mixed >>> 16
    hash = (hash + Math.imul(mixed, 0x85ebca6b)) | 0
  }
  return hash
}

function equal(a: StateVector, b: StateVector): boolean {
  if (a.size !== b.size) return false
  for (const [client, clock] of a) if (b.get(client) !== clock) return false
  return true
}
