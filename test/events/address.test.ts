import { describe, expect, test } from 'bun:test'
import { findTargets, isPublicAddress } from '../../plugins/events/address/address.ts'
import { createTargetRules, targetProblem } from '../../plugins/events/index.ts'

const rules = createTargetRules()
const notPublic = 'must be on the public internet'

describe('an address is not public', () => {
  for (const address of [
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
    ...['172.16.0.1', '172.31.255.255', '192.168.1.1', '192.0.0.192', '192.0.2.1', '198.18.0.1', '198.51.100.1'],
    ...['203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
    ...['::', '::1', 'fe80::1', 'febf::1', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '100::1', '5f00::1'],
    // IPv4 in IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:10.0.0.1', '::127.0.0.1', '::ffff:0:127.0.0.1'],
    ...['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::', '64:ff9b:1::8.8.8.8', '2002:7f00:1::', '2001::1'],
    ...['2001:db8::1', '3fff::1', '2001:20::1'],
    // Zones, and what is no address.
    ...['fe80::1%eth0', '2606:4700::1111%eth0', '8.8.8.8%1', '', 'localhost', '1.2.3', '1.2.3.4.5', '08.8.8.8'],
  ]) {
    test(address || 'nothing', () => expect(isPublicAddress(address)).toBe(false))
  }
})

test('other addresses are public', () => {
  for (const address of [
    ...['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.1', '172.32.0.1', '192.0.1.1', '223.255.255.255'],
    ...['2606:4700:4700::1111', '2a00::1', '64:ff9b::8.8.8.8', '64:ff9b::101:101', '::ffff:8.8.8.8'],
  ]) {
    expect([address, isPublicAddress(address)]).toEqual([address, true])
  }
})

describe('a URL is rejected', () => {
  for (const url of [
    ...['http://127.0.0.1/', 'http://127.1/', 'http://2130706433/', 'http://0x7f.0.0.1/', 'http://0177.0.0.1/'],
    ...[
      'http://１２７.0.0.1/',
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[64:ff9b::7f00:1]:80/',
      'http://0/',
    ],
    ...[
      'https://169.254.169.254/latest/meta-data',
      'http://localhost/',
      'http://LOCALHOST./',
      'http://a.localhost:8080/',
    ],
    ...['http://db.internal/', 'http://printer.local/', 'http://x.home.arpa/', 'http://hidden.onion/'],
  ]) {
    test(url, () => expect(targetProblem(url, rules)).toBe(notPublic))
  }
  for (const url of [
    ...[
      '',
      'ann.example',
      'ftp://ann.example/',
      'file:///etc/passwd',
      'http://user@ann.example/',
      'http://a:b@c.example/',
    ],
    ...[
      'https://ann.example/#x',
      ' https://ann.example/',
      'https://ann.example/a b',
      'https:\\\\ann.example',
      'https://',
    ],
    ...['https://[fe80::1%25eth0]/', `https://ann.example/${'x'.repeat(2_048)}`, 'data:text/plain,x', 'unix:/x'],
  ]) {
    test(url.slice(0, 60) || 'nothing', () =>
      expect(targetProblem(url, rules)).toContain('must be an http or https URL'),
    )
  }
})

test('a URL on the public internet is accepted', () => {
  for (const url of [
    'https://ann.example/hook?x=1',
    'http://8.8.8.8:8080/',
    'https://[2606:4700::1111]/',
    'HTTPS://Ä.example',
  ]) {
    expect([url, targetProblem(url, rules)]).toEqual([url, undefined])
  }
})

test('an operator may allow networks that are not public, and no others', () => {
  const inside = createTargetRules(['127.0.0.0/8', 'fd12::/16'])
  for (const url of ['http://127.0.0.1/', 'http://localhost/', 'http://[fd12::5]/', 'http://[::ffff:127.0.0.1]/']) {
    expect([url, targetProblem(url, inside)]).toEqual([url, undefined])
  }
  for (const url of ['http://10.0.0.1/', 'http://[::1]/', 'http://[fd13::5]/']) {
    expect([url, targetProblem(url, inside)]).toEqual([url, notPublic])
  }
})

describe('a name is resolved to addresses that requests may go to', () => {
  const { signal } = new AbortController()
  const find = (url: string, addresses: readonly string[], networks?: readonly string[]) =>
    findTargets(new URL(url), { ...createTargetRules(networks), resolve: async () => addresses }, signal)
  const message = 'the host cannot be reached at a public address'

  test('the first public one of each family', async () => {
    const addresses = ['10.0.0.1', 'fe80::1%eth0', '2606:4700::1111', '8.8.8.8', '1.1.1.1', '2a00::1']
    expect(await find('https://ann.example/', addresses)).toEqual(['8.8.8.8', '2606:4700::1111'])
    expect(await find('https://ann.example/', ['10.0.0.1', '1.1.1.1'])).toEqual(['1.1.1.1'])
    expect(await find('https://[2606:4700::1111]/', [])).toEqual(['2606:4700::1111'])
  })

  test('or none', async () => {
    for (const addresses of [[], ['127.0.0.1'], ['::ffff:10.0.0.1', '64:ff9b::a00:1', '169.254.169.254']]) {
      await expect(find('https://ann.example/', addresses)).rejects.toThrow(message)
    }
    await expect(find('http://127.0.0.1/', ['8.8.8.8'])).rejects.toThrow(message)
    await expect(findTargets(new URL('http://localhost/'), rules, signal)).rejects.toThrow(message)
  })

  test('a name that exists has the same error as one that does not, and only the cause differs', async () => {
    const errorOf = (resolve: () => Promise<readonly string[]>) =>
      findTargets(new URL('https://db.corp.example/'), { ...rules, resolve }, signal).catch((error: Error) => error)
    const exists = (await errorOf(async () => ['10.1.2.3'])) as Error
    const missing = (await errorOf(() => Promise.reject(new Error('queryA ENOTFOUND')))) as Error
    const silent = (await errorOf(() => Promise.reject(new Error('queryA ETIMEOUT')))) as Error
    expect([exists.message, missing.message, silent.message]).toEqual([message, message, message])
    expect([exists, missing, silent].map(({ cause }) => String(cause))).toEqual([
      'none of 10.1.2.3 is allowed',
      'Error: queryA ENOTFOUND',
      'Error: queryA ETIMEOUT',
    ])
  })
})
