/**
 * The order in which an update's structs can be taken in one by one: each after what it refers to.
 */
import type { StructIndex } from './struct-index.ts'
import { StructWalk } from './struct-walk.ts'

/**
 * Depth first over authors: whoever needs a struct of another author waits on the stack until that author has got there.
 * An author waits at most once, so the stack is never deeper than there are authors, and a struct is looked at once for
 * each of its three references and once more.
 */
export class CausalOrder {
  private readonly index: StructIndex
  /** Holds the references of the struct that `ready` has found. */
  readonly walk = new StructWalk()
  /** Per section: the struct that comes next. */
  private readonly nexts: Int32Array
  private readonly waits: Uint8Array
  /** The sections that run or wait, and the struct until which each has to go. */
  private readonly stack: Int32Array
  private readonly targets: Int32Array
  private depth = 0
  private root = 0

  constructor(index: StructIndex) {
    this.index = index
    const sections = index.clients.length
    this.nexts = Int32Array.from(index.firsts.slice(0, sections))
    this.waits = new Uint8Array(sections)
    this.stack = new Int32Array(sections)
    this.targets = new Int32Array(sections)
    this.walk.begin(index.bytes)
  }

  upcoming(section: number): number {
    return this.nexts[section]!
  }

  pass(section: number): void {
    this.nexts[section]!++
  }

  /** A section whose upcoming struct depends on nothing that is still to come, or -1 at the end. */
  ready(): number {
    for (;;) {
      if (this.depth === 0) {
        const { firsts, clients } = this.index
        while (this.root < clients.length && this.nexts[this.root] === firsts[this.root + 1]) this.root++
        if (this.root === clients.length) return -1
        this.push(this.root, firsts[this.root + 1]! - 1)
      }
      const section = this.stack[this.depth - 1]!
      if (this.nexts[section]! > this.targets[this.depth - 1]!) {
        this.waits[section] = 0
        this.depth--
      } else if (!this.waitsForAnother(section)) {
        return section
      }
    }
  }

  private waitsForAnother(section: number): boolean {
    const { index, walk } = this
    const struct = this.nexts[section]!
    walk.pos = index.offset(struct)
    walk.client = index.clients[section]!
    walk.clock = index.clock(struct)
    walk.structHead()
    return (
      this.pushUnmet(walk.originClient, walk.originClock) ||
      this.pushUnmet(walk.rightClient, walk.rightClock) ||
      this.pushUnmet(walk.parentClient, walk.parentClock)
    )
  }

  private pushUnmet(client: number, clock: number): boolean {
    // An author's own structs come in their order anyway.
    if (client < 0 || client === this.walk.client) return false
    const { index } = this
    const section = index.sectionOf(client)
    if (section < 0 || clock >= index.clockEnds[section]!) return false
    const next = this.nexts[section]!
    if (next === index.firsts[section + 1] || clock < index.clock(next)) return false
    // On the stack already: a circle.
    if (this.waits[section] === 1) return false
    const target = index.structAt(section, clock, next)
    if (index.isSkip(target)) return false
    this.push(section, target)
    return true
  }

  private push(section: number, target: number): void {
    this.waits[section] = 1
    this.stack[this.depth] = section
    this.targets[this.depth++] = target
  }
}
