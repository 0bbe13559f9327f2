/** What every Storage does, whatever it keeps boards in. Called by the test of each. */
import { expect, test } from 'vitest'
import { type Storage, StorageError, type StoredRecord, type StoredRoom } from '../../src/storage/storage.ts'

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const texts = (records: readonly StoredRecord[]): string[] =>
  records.map(({ update }) => new TextDecoder().decode(update))

export async function recordsOf(storage: Storage, room: string): Promise<StoredRecord[]> {
  const records: StoredRecord[] = []
  for await (const record of storage.load(room)) records.push(record)
  return records
}

export async function roomsOf(storage: Storage): Promise<StoredRoom[]> {
  const rooms: StoredRoom[] = []
  for await (const room of storage.rooms()) rooms.push(room)
  return rooms
}

/** Names that have been mixed up somewhere: case, separators, prefixes of keys, composed letters, ends in zero bytes. */
export const ALIKE = [
  'a', 'A', 'a/b', 'a%2Fb', 'a:log:1', 'a:', 'a:log', 'meta:', 'meta', 'names', 'next-id', 'a\0', 'a\0\0', '\0', '\x01',
  '\u00e9', 'e\u0301', 'x'.repeat(512), `${'x'.repeat(511)}y`, '🙂'.repeat(128), '\uffff', ' a', 'a ', '__proto__',
] // biome-ignore format: one table reads better

export function storageContract(open: () => Promise<Storage>): void {
  test('an unknown room has no records, and deleting it is no error', async () => {
    const storage = await open()
    expect(await recordsOf(storage, 'nobody')).toEqual([])
    await storage.delete('nobody')
    expect(await roomsOf(storage)).toEqual([])
  })

  test('[ST1] records come back as they were appended, in order, under growing seqs', async () => {
    const storage = await open()
    const seqs = await Promise.all(['1', '2', '3'].map((text) => storage.append('r', [bytes(text)])))
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    const records = await recordsOf(storage, 'r')
    expect(texts(records)).toEqual(['1', '2', '3'])
    expect(records.map(({ seq, part }) => [seq, part])).toEqual(seqs.map((seq) => [seq, 0]))
  })

  test('[ST7] updates appended together are a record each, one after the other', async () => {
    const storage = await open()
    const before = await storage.append('r', [bytes('1')])
    const last = await storage.append('r', [bytes('2'), bytes('3'), bytes('4')])
    const after = await storage.append('r', [bytes('5')])
    const records = await recordsOf(storage, 'r')
    expect(texts(records)).toEqual(['1', '2', '3', '4', '5'])
    const seqs = records.map(({ seq }) => seq)
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    expect([seqs[0], seqs[3], seqs[4]]).toEqual([before, last, after])
    await storage.compact('r', last, [bytes('p')])
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['p', '5'])
  })

  test('what the caller does to its bytes after an append has no effect', async () => {
    const storage = await open()
    const update = bytes('before')
    await storage.append('r', [update])
    update.fill(0)
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['before'])
  })

  test('records of any size come back whole', async () => {
    const storage = await open()
    const sizes = [1, 2, 4_000, 4_096, 65_536, 70_000, 1_500_000]
    await Promise.all(sizes.map((size, i) => storage.append('r', [new Uint8Array(size).fill(i + 1)])))
    const records = await recordsOf(storage, 'r')
    expect(records.map(({ update }) => [update.length, update[0], update.at(-1)])).toEqual(
      sizes.map((size, i) => [size, i + 1, i + 1]),
    )
  })

  test('[FR1] rooms keep apart, whatever their names look like', async () => {
    const storage = await open()
    await Promise.all(ALIKE.flatMap((room, i) => [1, 2].map((n) => storage.append(room, [bytes(`${i}.${n}`)]))))
    for (const [i, room] of ALIKE.entries()) {
      expect(texts(await recordsOf(storage, room)), room).toEqual([`${i}.1`, `${i}.2`])
    }
    const inOrder = [...ALIKE].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect((await roomsOf(storage)).map(({ room }) => room)).toEqual(inOrder)
    for (const room of ALIKE.slice(0, 5)) await storage.delete(room)
    for (const [i, room] of ALIKE.entries()) {
      expect(texts(await recordsOf(storage, room)), room).toEqual(i < 5 ? [] : [`${i}.1`, `${i}.2`])
    }
  })

  test('[ST3] compaction replaces exactly what it merged; parts come before the surviving tail', async () => {
    const storage = await open()
    await storage.append('r', [bytes('1')])
    const through = await storage.append('r', [bytes('2')])
    await storage.append('r', [bytes('3')])
    await storage.append('other', [bytes('o')])
    await storage.compact('r', through, [bytes('p1'), bytes('p2')])
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['p1', 'p2', '3'])
    expect(texts(await recordsOf(storage, 'other'))).toEqual(['o'])
    const last = await storage.append('r', [bytes('4')])
    await storage.compact('r', last, [bytes('q1')])
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['q1'])
  })

  test('[ST3] what is appended while a compaction is under way survives it', async () => {
    const storage = await open()
    const through = await storage.append('r', [bytes('1')])
    const compacted = storage.compact('r', through, [bytes('p')])
    await Promise.all([storage.append('r', [bytes('2')]), compacted, storage.append('r', [bytes('3')])])
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['p', '2', '3'])
  })

  test('[ST3] a second compaction through the same seq replaces the first, under new places', async () => {
    const storage = await open()
    const through = await storage.append('r', [bytes('1')])
    await storage.compact('r', through, [bytes('a'), bytes('b'), bytes('c')])
    const first = await recordsOf(storage, 'r')
    await storage.compact('r', through, [bytes('d'), bytes('e')])
    const second = await recordsOf(storage, 'r')
    expect(texts(second)).toEqual(['d', 'e'])
    const places = [...first, ...second].map(({ seq, part }) => `${seq}.${part}`)
    expect(new Set(places).size).toBe(5)
  })

  test('[ST3] a board whose every record was merged into nothing is empty', async () => {
    const storage = await open()
    await storage.compact('r', await storage.append('r', [bytes('1')]), [])
    expect(await recordsOf(storage, 'r')).toEqual([])
  })

  test('[ST4] quarantine takes the records out and leaves the rest', async () => {
    const storage = await open()
    const through = await storage.append('r', [bytes('1')])
    await storage.compact('r', through, [bytes('p1'), bytes('p2'), bytes('p3')])
    await storage.append('r', [bytes('2')])
    const bad = await storage.append('r', [bytes('3')])
    await storage.append('r', [bytes('4')])
    const place = (await recordsOf(storage, 'r'))[1]!
    await storage.quarantine('r', [
      { place: { seq: place.seq, part: place.part }, reason: 'why' },
      { place: { seq: bad, part: 0 }, reason: 'because' },
      { place: { seq: bad + 1000, part: 0 }, reason: 'not there' },
    ])
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['p1', 'p3', '2', '4'])
  })

  test('a board is gone after its deletion, and begins anew', async () => {
    const storage = await open()
    await storage.append('r', [bytes('1')])
    await Promise.all([storage.append('r', [bytes('2')]), storage.delete('r'), storage.append('r', [bytes('3')])])
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['3'])
    await storage.delete('r')
    expect(await roomsOf(storage)).toEqual([])
  })

  test('rooms tells records, tail and bytes', async () => {
    const storage = await open()
    const through = await storage.append('b', [bytes('1')])
    await storage.compact('b', through, [bytes('p1'), bytes('p2')])
    await storage.append('b', [bytes('tail')])
    await storage.append('a', [bytes('1')])
    expect(await roomsOf(storage)).toEqual([
      { room: 'a', records: 1, tail: 1, bytes: 1 },
      { room: 'b', records: 3, tail: 1, bytes: 8 },
    ])
  })

  test('[AC6] the authors of deleted boards are remembered, all of them, under their name alone', async () => {
    const storage = await open()
    expect(await storage.buried('r')).toEqual([])
    await storage.append('r', [bytes('1')])
    await storage.delete('r', [1, 2 ** 40])
    await storage.append('r', [bytes('2')])
    await storage.delete('r', [3, 1])
    await storage.delete('r')
    expect([...(await storage.buried('r'))].sort((a, b) => a - b)).toEqual([1, 3, 2 ** 40])
    expect(await storage.buried('R')).toEqual([])
    expect(await roomsOf(storage)).toEqual([])
  })

  test('a load may be left before its end', async () => {
    const storage = await open()
    for (const text of ['1', '2', '3']) await storage.append('r', [bytes(text)])
    for await (const record of storage.load('r')) {
      expect(texts([record])).toEqual(['1'])
      break
    }
    await storage.append('r', [bytes('4')])
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['1', '2', '3', '4'])
  })

  test('after close everything is refused with a StorageError, and closing again is harmless', async () => {
    const storage = await open()
    const late = storage.append('r', [bytes('in time')])
    await storage.close()
    await expect(late).resolves.toBeGreaterThan(0)
    await storage.close()
    await expect(storage.append('r', [bytes('1')])).rejects.toThrow(StorageError)
    await expect(storage.compact('r', 1, [])).rejects.toThrow(StorageError)
    await expect(storage.quarantine('r', [])).rejects.toThrow(StorageError)
    await expect(storage.delete('r')).rejects.toThrow(StorageError)
    await expect(recordsOf(storage, 'r')).rejects.toThrow(StorageError)
    await expect(roomsOf(storage)).rejects.toThrow(StorageError)
  })
}

/** What a store does that has to go and fetch its records. */
export function largeBoardContract(open: () => Promise<Storage>): void {
  test('[ST9] a large board is read in chunks, the loop free between them', async () => {
    const storage = await open()
    const parts = Array.from({ length: 64 }, (_, i) => new Uint8Array(65_536).fill(i))
    await storage.compact('big', await storage.append('big', [bytes('1')]), parts)
    let turns = 0
    let counting = true
    const count = () => {
      turns++
      if (counting) setImmediate(count)
    }
    count()
    const records = await recordsOf(storage, 'big')
    counting = false
    expect(records.map(({ update }) => update[0])).toEqual(parts.map((_, i) => i))
    expect(turns).toBeGreaterThan(8)
  })
}
