import { expect, test } from 'bun:test'
import { screens } from './every-screen.ts'
import { malformedAddresses, patterns, screenAt } from './malformed-addresses.ts'

const { readRoute }: { readRoute(hash: string): { readonly screen: string; readonly parts: readonly string[] } } =
  await import(new URL('../../plugins/console/page/frame/route.js', import.meta.url).href)

const at = (address: string) => screenAt(readRoute(`#/${address}`))

test('every address leads to its screen, with an id where it has one', () => {
  expect(patterns.length).toBeGreaterThan(30)
  for (const pattern of patterns)
    for (const id of ['group-20260101000000-abcde', '0192e3a4-0000-7000-8000-000000000000', 'cgt-1', 'ünï@1:2'])
      expect([pattern, at(pattern.replace(':', encodeURIComponent(id)))]).toEqual([
        pattern,
        pattern.split('/')[0] ?? '',
      ])
  for (const first of ['', 'groups', 'groups?q=cat', 'groups/']) expect([first, at(first)]).toEqual([first, 'groups'])
})

test('every screen that a link leads to has an address', () => {
  for (const screen of screens) expect(patterns).toContain(screen.replace('*', ':'))
})

test('there is nothing at an address with a missing or malformed id, or with something after it', () => {
  expect(malformedAddresses.length).toBeGreaterThan(100)
  for (const address of malformedAddresses) expect([address, at(address)]).toEqual([address, undefined])
})
