import { describe, expect, test } from 'vitest'
import { clientAddress, isLoopbackAddress } from '../../../src/access/client-address.ts'

describe('[AC4] the address that limits count by', () => {
  test.each([
    ['IPv4', '192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['IPv4 in IPv6', '::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['IPv4 in IPv6, uncompressed', '0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1', '192.0.2.1'],
    ['IPv6 loopback, uncompressed', '0000:0000:0000:0000:0000:0000:0000:0001', '::1', '::/64'],
    ['IPv6', '2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['IPv6, upper case', '2001:DB8::A', '2001:db8::a', '2001:db8::/64'],
    ['IPv6 with a zone', 'fe80::1%eth0', 'fe80::1', 'fe80::/64'],
    ['the longest run of zeros is shortened', '1:0:0:2:0:0:0:3', '1:0:0:2::3', '1:0:0:2::/64'],
    ['the first of two equal runs is shortened', '1:0:0:2:3:0:0:4', '1::2:3:0:0:4', '1:0:0:2::/64'],
    ['one zero is not shortened', '1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7', '1:0:2:3::/64'],
    ['all zeros', '::', '::', '::/64'],
    ['a Unix socket', '', 'unknown', 'unknown'],
    ['three numbers', '192.0.2', 'unknown', 'unknown'],
    ['a number over 255', '192.0.2.256', 'unknown', 'unknown'],
    ['nine groups', '1:2:3:4:5:6:7:8:9', 'unknown', 'unknown'],
    ['seven groups', '1:2:3:4:5:6:7', 'unknown', 'unknown'],
    ['a :: that stands for nothing', '1:2:3:4::5:6:7:8', 'unknown', 'unknown'],
    ['two ::', '1::2::3', 'unknown', 'unknown'],
    ['a group of five digits', '1::12345', 'unknown', 'unknown'],
    ['words', 'localhost', 'unknown', 'unknown'],
  ])('%s: %s', (_, peer, address, group) => {
    expect(clientAddress(peer, '', 0)).toEqual({ address, group })
  })

  test('two addresses of one /64 share a group, their neighbours have their own', () => {
    const group = (peer: string) => clientAddress(peer, '', 0).group
    expect(group('2001:db8::1')).toBe(group('2001:db8::ffff:ffff:ffff:ffff'))
    expect(group('2001:db8::1')).not.toBe(group('2001:db8:0:1::1'))
  })
})

describe('[AC4] X-Forwarded-For', () => {
  test.each([
    ['is ignored without proxies', '203.0.113.9', 0, '10.0.0.1'],
    ['one proxy: the right-most entry', '198.51.100.7, 203.0.113.9', 1, '203.0.113.9'],
    ['two proxies: the second from the right', '198.51.100.7, 203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
    ['what the client claims does not count', '127.0.0.1, 127.0.0.1, 203.0.113.9', 1, '203.0.113.9'],
    ['several lines joined', 'garbage,203.0.113.9', 1, '203.0.113.9'],
    ['as many entries as hops', '203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
    ['too few entries: the peer', '203.0.113.9', 2, '10.0.0.1'],
    ['no header: the peer', '', 1, '10.0.0.1'],
    ['commas only: the peer', ' , ,', 1, '10.0.0.1'],
    ['an unreadable entry: the peer', '203.0.113.9, unknown', 1, '10.0.0.1'],
    ['empty entries are skipped', '203.0.113.9, , ', 1, '203.0.113.9'],
    ['with a port', '203.0.113.9:4711', 1, '203.0.113.9'],
    ['IPv6', '2001:DB8::1', 1, '2001:db8::1'],
    ['IPv6 in brackets', '[2001:db8::1]', 1, '2001:db8::1'],
    ['IPv6 in brackets, quoted, with a port', '"[2001:db8::1]:4711"', 1, '2001:db8::1'],
    ['IPv4 in IPv6', '::ffff:203.0.113.9', 1, '203.0.113.9'],
  ])('%s: %s with %i', (_, header, hops, address) => {
    expect(clientAddress('10.0.0.1', header, hops).address).toBe(address)
  })

  test('a long header of garbage takes no noticeable time', () => {
    const start = performance.now()
    clientAddress('10.0.0.1', '['.repeat(100_000), 1)
    clientAddress('10.0.0.1', ',:'.repeat(50_000), 1)
    clientAddress('10.0.0.1', '"'.repeat(100_000), 1)
    expect(performance.now() - start).toBeLessThan(200)
  })
})

test('loopback addresses', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1'].every(isLoopbackAddress)).toBe(true)
  expect(['128.0.0.1', '::2', 'unknown', '10.127.0.1'].some(isLoopbackAddress)).toBe(false)
})
