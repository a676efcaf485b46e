import { expect, test } from 'bun:test'
import { addressOf, deliverAddress } from '../../plugins/shared/address.ts'

const from = (peer: string | undefined, forwarded?: string) => {
  const request = new Request('http://localhost', {
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  })
  deliverAddress(request, peer)
  return addressOf(request)
}

test('a peer from the open is who it is, whatever it says', () => {
  expect(from('203.0.113.7', '1.2.3.4')).toBe('203.0.113.7')
  expect(from('2001:db8::1', '1.2.3.4')).toBe('2001:db8::1')
  expect(from('172.32.0.1', '1.2.3.4')).toBe('172.32.0.1')
})

test('a proxy close by is believed, in what it added itself', () => {
  for (const peer of [
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '192.168.0.9',
    '172.16.0.1',
    '::ffff:127.0.0.1',
    'fd00::1',
    'fe80::1',
  ]) {
    expect([peer, from(peer, '1.2.3.4, 203.0.113.7')]).toEqual([peer, '203.0.113.7'])
    expect([peer, from(peer)]).toEqual([peer, peer])
  }
})

test('what was not said is not known', () => {
  expect(from(undefined, '1.2.3.4')).toBeUndefined()
})

test('an address is one address, whatever port a proxy names with it', () => {
  for (const [said, address] of [
    ['203.0.113.7:40001', '203.0.113.7'],
    ['[2001:db8::1]:40001', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
  ] as const) {
    expect(from('127.0.0.1', `1.2.3.4, ${said}`)).toBe(address)
  }
})
