import { describe, expect, test } from 'bun:test'
import { createClientAddressOf, parseAddress, setPeerAddress } from '../../plugins/shared/http/client-address.ts'

const from = (peer: string | undefined, forwarded?: string, trusted?: readonly string[]) => {
  const request = new Request('http://localhost', {
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  })
  setPeerAddress(request, peer)
  return createClientAddressOf(trusted)(request)
}

describe('the client address of a request', () => {
  test('is the peer, unless the peer is a trusted proxy', () => {
    for (const peer of ['203.0.113.7', '2001:db8::1', '127.0.0.1', '::1', '10.1.2.3', '192.168.0.9', 'fd00::1']) {
      expect([peer, from(peer, '1.2.3.4')]).toEqual([peer, peer])
      expect([peer, from(peer, '1.2.3.4', ['198.51.100.1', '2001:db8:9::/48'])]).toEqual([peer, peer])
    }
  })

  test('is the last address that a trusted proxy added, not one that the client sent', () => {
    const trusted = ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8']
    for (const peer of ['127.0.0.1', '10.1.2.3', '::1', 'fd12::7', '::ffff:127.0.0.1', '::ffff:a01:203']) {
      expect([peer, from(peer, '1.2.3.4, 203.0.113.7', trusted)]).toEqual([peer, '203.0.113.7'])
    }
    for (const peer of ['127.0.0.2', '11.0.0.1', '::2', 'fe80::1', '::ffff:11.0.0.1']) {
      expect(from(peer, '1.2.3.4', trusted)).toBe(parseAddress(peer))
    }
  })

  test('behind several trusted proxies is the first other address from the right', () => {
    const trusted = ['10.0.0.0/8', '2001:db8:a::/48']
    expect(from('10.0.0.1', '6.6.6.6, 203.0.113.7, 10.0.0.2, 10.0.0.3', trusted)).toBe('203.0.113.7')
    expect(from('10.0.0.1', '6.6.6.6, 203.0.113.7, 2001:db8:a::5, ::ffff:10.0.0.3', trusted)).toBe('203.0.113.7')
    expect(from('10.0.0.1', '10.9.9.9, 203.0.113.7', trusted)).toBe('203.0.113.7')
    expect(from('10.0.0.1', '10.0.0.4, 10.0.0.5', trusted)).toBe('10.0.0.4')
    expect(from('10.0.0.1', undefined, trusted)).toBe('10.0.0.1')
  })

  test('is the proxy itself when the proxy added no address', () => {
    for (const word of [
      'unknown',
      '',
      '_hidden',
      '1.2.3',
      '1.2.3.4.5',
      '999.1.1.1',
      'evil.test',
      '1.2.3.4:x',
      '[::1',
      '-',
    ]) {
      expect([word, from('127.0.0.1', `203.0.113.7, ${word}`, ['127.0.0.1'])]).toEqual([word, '127.0.0.1'])
      expect(from('127.0.0.1', `203.0.113.7, ${word}, 10.0.0.9`, ['127.0.0.1', '10.0.0.9'])).toBe('10.0.0.9')
    }
  })

  test('is normalized, without port', () => {
    for (const [said, address] of [
      ['203.0.113.7:40001', '203.0.113.7'],
      ['::ffff:203.0.113.7', '203.0.113.7'],
      ['::FFFF:cb00:7107', '203.0.113.7'],
      ['[::ffff:203.0.113.7]:1', '203.0.113.7'],
      ['[2001:db8::1]:40001', '2001:db8::1'],
      ['[2001:db8::1]', '2001:db8::1'],
      ['2001:0DB8:0:0::1', '2001:db8::1'],
      ['fe80::1%eth0', 'fe80::1'],
    ] as const) {
      expect(from('127.0.0.1', `1.2.3.4, ${said}`, ['127.0.0.1'])).toBe(address)
    }
  })

  test('is unknown when the server reports no peer', () => {
    expect(from(undefined, '1.2.3.4', ['0.0.0.0/0', '::/0'])).toBeUndefined()
    expect(from('unix:', '1.2.3.4', ['0.0.0.0/0', '::/0'])).toBe('unix:')
  })
})
