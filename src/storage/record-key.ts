/**
 * The store's keys, fixed width and big-endian so that LMDB's order of bytes is the order of records:
 *   records     room id (8) · seq (8) · part (4)
 *   quarantine  room id (8) · seq (8) · part (4)
 *   names       the room's name, UTF-8 as it is
 * A room's name occurs in one place only: names cannot collide with keys, whatever they look like.
 */
import { type RecordPlace, StorageError } from './storage.ts'

const ID_BYTES = 8
const KEY_BYTES = 20
/** 512 bytes is what a room's name may have (FR1); LMDB would take 1978. */
export const MAX_NAME_BYTES = 512
const MAX_PART = 0xffff_ffff

/** The bytes a room's name is stored under. Refuses what could not come back unchanged. */
export function nameKey(room: string): Buffer {
  const key = Buffer.from(room)
  if (key.byteLength === 0) throw new StorageError('a room without a name cannot be stored')
  if (key.byteLength > MAX_NAME_BYTES) throw new StorageError(`a room's name has at most ${MAX_NAME_BYTES} bytes`)
  if (key.toString() !== room) throw new StorageError("a room's name is not well-formed text")
  return key
}

export function recordKey(id: number, place: RecordPlace): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES)
  writeUint(key, id, 0)
  writeUint(key, place.seq, ID_BYTES)
  key.writeUInt32BE(place.part, ID_BYTES * 2)
  return key
}

/** Before every record of the room. */
export function firstKey(id: number): Buffer {
  return recordKey(id, { seq: 0, part: 0 })
}

/** After every record of the room with `seq <= through`; after all of them without `through`. Excluded from a range. */
export function endKey(id: number, through?: number): Buffer {
  return through === undefined ? firstKey(id + 1) : recordKey(id, { seq: through + 1, part: 0 })
}

/** Right after the record in a range. */
export function keyAfter({ seq, part }: RecordPlace, id: number): Buffer {
  return recordKey(id, part === MAX_PART ? { seq: seq + 1, part: 0 } : { seq, part: part + 1 })
}

export function placeOf(key: Uint8Array): RecordPlace {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength)
  return { seq: readUint(bytes, ID_BYTES), part: bytes.readUInt32BE(ID_BYTES * 2) }
}

/** A number of 0 to 2^53 - 1 as eight bytes. */
export function uintBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(ID_BYTES)
  writeUint(bytes, value, 0)
  return bytes
}

export function uintOf(value: Uint8Array): number {
  return readUint(Buffer.from(value.buffer, value.byteOffset, value.byteLength), 0)
}

function writeUint(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at)
  bytes.writeUInt32BE(value % 2 ** 32, at + 4)
}

function readUint(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
}
