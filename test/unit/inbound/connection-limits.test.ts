import { describe, expect, test } from 'vitest'
import { parseDescriptorLimit, readDescriptors } from '../../../src/budget/descriptor-limit.ts'
import {
  type ConnectionLimitSettings,
  createConnectionLimits,
  type Place,
} from '../../../src/inbound/connection-limits.ts'

function limits(settings: Partial<ConnectionLimitSettings>) {
  return createConnectionLimits({ maxConnections: 1000, maxConnectionsPerIp: 100, descriptors: null, ...settings })
}

function place(answer: ReturnType<ReturnType<typeof limits>['admit']>): Place {
  if (answer.kind !== 'place') throw new Error(`refused: ${answer.label}`)
  return answer
}

describe('[AC4] connections are limited', () => {
  test('in all', () => {
    const all = limits({ maxConnections: 2 })
    const first = place(all.admit('a'))
    place(all.admit('b'))
    expect(all.admit('c')).toMatchObject({ kind: 'refusal', label: 'connections', reason: { code: 1013, retry: true } })
    first.release()
    expect(all.admit('c').kind).toBe('place')
    expect(all.connections).toBe(2)
  })

  test('per address, others being unaffected', () => {
    const all = limits({ maxConnectionsPerIp: 2 })
    const first = place(all.admit('a'))
    place(all.admit('a'))
    expect(all.admit('a')).toMatchObject({ kind: 'refusal', label: 'address', reason: { code: 1013, retry: true } })
    expect(all.admit('b').kind).toBe('place')
    first.release()
    expect(all.admit('a').kind).toBe('place')
  })

  test('a place is given back once, however often it is released', () => {
    const all = limits({ maxConnections: 2 })
    const first = place(all.admit('a'))
    place(all.admit('a'))
    first.release()
    first.release()
    expect(all.connections).toBe(1)
    place(all.admit('a'))
    expect(all.admit('a').kind).toBe('refusal')
  })

  test('refusals take nothing, and everything released leaves nothing', () => {
    const all = limits({ maxConnections: 50, maxConnectionsPerIp: 7 })
    const held: Place[] = []
    for (let round = 0; round < 500; round++) {
      const answer = all.admit(`group ${round % 9}`)
      if (answer.kind === 'place') held.push(answer)
      if (round % 3 === 0) held.splice(round % held.length, 1)[0]?.release()
    }
    for (const each of held) each.release()
    expect(all.connections).toBe(0)
    for (let round = 0; round < 7; round++) expect(all.admit('group 0').kind).toBe('place')
  })
})

describe('[AC4] connections stay below the descriptor limit', () => {
  test.each([
    ['a usual limit', { limit: 20_000, used: 30 }, 19_890, 19_954],
    ['a small limit: a quarter is for HTTP', { limit: 256, used: 24 }, 162, 216],
    ['a hopeless limit', { limit: 32, used: 30 }, 1, 1],
    ['an unknown limit: beside the setting, some for HTTP', null, 1_000_000, 1_001_024],
  ])('%s', (_, descriptors, maxConnections, maxSockets) => {
    expect(limits({ maxConnections: 1_000_000, descriptors })).toMatchObject({ maxConnections, maxSockets })
  })

  test('the setting counts when it is less', () => {
    expect(limits({ maxConnections: 10, descriptors: { limit: 20_000, used: 30 } }).maxConnections).toBe(10)
  })

  test('the limit is read from the text of /proc/self/limits', () => {
    const text = 'Limit                     Soft Limit           Hard Limit           Units\n'
    expect(
      parseDescriptorLimit(`${text}Max open files            256                  1024                 files\n`),
    ).toBe(256)
    expect(
      parseDescriptorLimit(`${text}Max open files            unlimited            unlimited            files\n`),
    ).toBeNull()
    expect(parseDescriptorLimit('')).toBeNull()
  })

  test.runIf(process.platform === 'linux')('this process has a limit and open descriptors', () => {
    const { limit, used } = readDescriptors()!
    expect(used).toBeGreaterThan(2)
    expect(limit).toBeGreaterThan(used)
  })
})
