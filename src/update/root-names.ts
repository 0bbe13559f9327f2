/**
 * The distinct root names of one update, told apart by their bytes: a struct costs a comparison, only a new name costs a
 * string. A doc never forgets a root name, and every full encode looks for each of them (60 000 of them: 15 to 21 s).
 */
const NO_NAMES: readonly string[] = []

/** Longest name that is put together by hand: a decoder's set-up costs more than so many characters. */
const SHORT_NAME_BYTES = 24

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** So that nobody can prepare names that all land in the same slot. */
const SEED = Math.floor(Math.random() * 0x7fffffff)

/** No update of 16 MiB can name more. */
const MAX_LIMIT = 1 << 22

export class RootNames {
  private bytes: Uint8Array
  private readonly limit: number
  /** Pairs of from and to. */
  private ranges: number[] = []
  /** Open addressing: index of a range + 1, 0 where free. Made when a second name turns up. */
  private slots: Int32Array | undefined

  constructor(bytes: Uint8Array, limit: number) {
    this.bytes = bytes
    // The table below is made for the limit: it has to stay one that memory can hold.
    this.limit = Math.min(limit, MAX_LIMIT)
  }

  /** False: that name is one more than the limit. */
  add(from: number, to: number): boolean {
    const { ranges } = this
    if (ranges.length > 0 && this.isSame(0, from, to)) return true
    if (ranges.length === 0) {
      if (this.limit === 0) return false
      ranges.push(from, to)
      return true
    }
    // Half full at most, so that a search ends after a step or two.
    this.slots ??= new Int32Array(2 << (32 - Math.clz32(this.limit)))
    const slots = this.slots
    const mask = slots.length - 1
    let slot = hash(this.bytes, from, to) & mask
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.isSame(slots[slot]! - 1, from, to)) return true
    }
    if (ranges.length >= this.limit * 2) return false
    slots[slot] = ranges.length / 2 + 1
    ranges.push(from, to)
    return true
  }

  names(): readonly string[] {
    const { bytes, ranges } = this
    const names: string[] = []
    for (let i = 0; i < ranges.length; i += 2) names.push(textOf(bytes, ranges[i]!, ranges[i + 1]!))
    return names.length === 0 ? NO_NAMES : names
  }

  private isSame(index: number, from: number, to: number): boolean {
    const { bytes, ranges } = this
    const start = ranges[index * 2]!
    const length = to - from
    if (ranges[index * 2 + 1]! - start !== length) return false
    for (let i = 0; i < length; i++) if (bytes[start + i] !== bytes[from + i]) return false
    return true
  }
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  if (to - from <= SHORT_NAME_BYTES) {
    let text = ''
    let pos = from
    while (pos < to && bytes[pos]! < 0x80) text += String.fromCharCode(bytes[pos++]!)
    if (pos === to) return text
  }
  return decoder.decode(bytes.subarray(from, to))
}

/** FNV-1a. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let value = SEED
  for (let i = from; i < to; i++) value = Math.imul(value ^ bytes[i]!, 0x01000193)
  return value ^ (value >>> 15)
}
