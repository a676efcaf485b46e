import { describe, expect, test } from 'bun:test'
import { networksOf } from '../../plugins/shared/login/networks.ts'

describe('the networks of', () => {
  for (const [address, ...names] of [
    ['192.0.2.1', '192.0.2.1/32', '192.0.2.0/24'],
    ['::ffff:192.0.2.1', '192.0.2.1/32', '192.0.2.0/24'],
    ['::FFFF:c000:0201', '192.0.2.1/32', '192.0.2.0/24'],
    ['2001:db8:1:2345:3:4:5:6', '2001:db8:1:2345::/64', '2001:db8:1:2300::/56', '2001:db8:1::/48'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64', '2001:db8:1:0::/56', '2001:db8:1::/48'],
    ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::/64', '2001:db8:1:0::/56', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0:0::/56', '2001:db8:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0:0::/56', 'fe80:0:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0:0::/56', '0:0:0::/48'],
    ['unix:', 'unix:'],
    ['', ''],
  ] as const) {
    test(`${address || 'an empty address'}: ${names.join(', ')}`, () =>
      expect(networksOf(address).map(({ name }) => name)).toEqual([...names]))
  }

  test('a larger network has a larger share than a smaller one', () => {
    expect(networksOf('192.0.2.1').map(({ share }) => share)).toEqual([1, 16])
    expect(networksOf('2001:db8::1').map(({ share }) => share)).toEqual([1, 4, 16])
  })
})
