import { describe, expect, test } from 'vitest'
import { MemoryStorage } from '../../../src/storage/memory-storage.ts'
import { StorageMetrics } from '../../../src/storage/storage-metrics.ts'
import { bytes, storageContract } from '../../contract/storage.contract.ts'

describe('memory storage', () => {
  storageContract(async () => new MemoryStorage())

  test('boards do not outlive their rooms unless asked to', () => {
    expect(new MemoryStorage().durable).toBe(false)
    expect(new MemoryStorage({ durable: true }).durable).toBe(true)
  })

  test('[ST4] keeps what it quarantined, and counts', async () => {
    const metrics = new StorageMetrics()
    const storage = new MemoryStorage({ metrics })
    const seq = await storage.append('r', [bytes('bad')])
    await storage.quarantine('r', [{ place: { seq, part: 0 }, reason: 'why' }])
    expect(storage.quarantined).toEqual([{ room: 'r', seq, part: 0, reason: 'why', update: bytes('bad') }])
    expect(metrics.quarantined.value).toBe(1)
    expect(metrics.bytes.value).toBe(3)
  })
})
