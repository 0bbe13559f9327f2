/** How a record lies in quarantine: the length of a JSON head (8 bytes), the head, the record's bytes as they were. */
import { uintBytes, uintOf } from './record-key.ts'
import type { StoredRecord } from './storage.ts'

export interface Quarantined extends StoredRecord {
  readonly room: string
  readonly reason: string
  /** Milliseconds since 1970. */
  readonly at: number
}

export function encodeQuarantined({ update, ...head }: Quarantined): Buffer {
  const json = Buffer.from(JSON.stringify(head))
  return Buffer.concat([uintBytes(json.byteLength), json, update])
}

export function decodeQuarantined(bytes: Uint8Array): Quarantined {
  const start = 8 + uintOf(bytes)
  const head = JSON.parse(Buffer.from(bytes.subarray(8, start)).toString()) as Omit<Quarantined, 'update'>
  return { ...head, update: bytes.subarray(start) }
}
