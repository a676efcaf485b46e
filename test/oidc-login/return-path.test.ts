import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readReturnPath } from '../../plugins/oidc-login/flow.ts'
import { openFixture } from './fixture.ts'

const publicUrl = 'https://sluice.example/base'

/** Texts that browsers, or servers behind this one, may read as another host or another path. */
const hostile = [
  '',
  'console',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\t//evil.example',
  ' //evil.example',
  '/ /evil.example',
  'https://evil.example',
  'https:evil.example',
  'https:/\\evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  '@evil.example',
  ':80',
  '.evil.example',
  '/..',
  '/../',
  '/../../evil',
  '/./../evil',
  '/%2e%2e/evil',
  '/a/%2E%2e/%2e%2e/x',
  '/a/..//evil.example',
  '/..//evil.example',
  '/a\\..\\..',
  '/ä',
  '/a\r\nset-cookie: x=1',
  '/a\0b',
  `/${'x'.repeat(256)}`,
]

describe('the return path', () => {
  test.each(['/', '/console', '/console#/videos', '/a/b?c=d&e=//f#g', '/a/%2F%2Fb', '/~a.b-c_d', '/a?b=https://c'])(
    '%s leads to that path of the public address',
    (path) => {
      expect(readReturnPath(path, publicUrl)).toBe(path)
    },
  )

  test.each(hostile)('%j is none, or stays below the public address', (path) => {
    const read = readReturnPath(path, publicUrl)
    if (read !== undefined) expect(new URL(publicUrl + read).href).toStartWith(`${publicUrl}/`)
    if (!path.startsWith('/a/')) expect(read).toBeUndefined()
  })

  test('whatever the text, the browser stays below the public address', () => {
    const text = fc.oneof(
      fc.string(),
      fc
        .array(fc.constantFrom('/', '\\', '.', '..', '%2e', '%2f', '@', ':', '?', '#', 'evil.example', 'a', '\t'))
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, (path) => {
        const read = readReturnPath(path, publicUrl)
        if (read === undefined) return
        const { href, origin, username } = new URL(`${publicUrl}${read}`)
        expect([origin, username, href.startsWith(`${publicUrl}/`)]).toEqual(['https://sluice.example', '', true])
      }),
      { numRuns: 2_000 },
    )
  })

  test('of a login that asked for another host is the default', async () => {
    await using host = await openFixture()
    for (const path of hostile) {
      const browser = host.browser()
      const callback = await host.authorize(browser, `?return_to=${encodeURIComponent(path)}`)
      const cookie = `oidc=${browser.cookies.get('oidc')}`
      const { status, headers } = await fetch(callback, { redirect: 'manual', headers: { cookie } })
      const location = new URL(headers.get('location') ?? '')
      expect([path, status, location.origin]).toEqual([path, 303, host.url])
    }
  })
})
