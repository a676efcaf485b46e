import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rest, UpstreamRejectedError } from '../../plugins/upstream-proxy/index.ts'
import { anyCharacter } from '../support/any-character.ts'
import { bodyOf, failure, json, ownAsset, startScriptedUpstream } from './scripted-upstream.ts'

const kind = rest({ url: 'http://upstream.test/api/media/proxy', key: 'k' })

const hostile = [
  '../x',
  '..\\x',
  'a/b',
  'a%2fb',
  'a?b',
  'a#b',
  'a;b',
  'a b',
  '%2e%2e',
  '..%2f',
  '%',
  'é',
  '\u202e',
  '\0',
  '\r\nX: y',
  '...',
  '.a',
  '@evil',
  '//evil',
  'groups/x',
  'Groups/',
  '\'"<>',
  '\u{1f600}',
]

const pathOf = (id: string) => {
  const { url } = kind.outgoing({ action: 'GetAsset', id }) as { url: string }
  return new URL(url)
}

describe('an id in a path', () => {
  for (const id of hostile) {
    test(`${JSON.stringify(id)} is one segment`, () => {
      const { pathname, search, hash, host } = pathOf(id)
      expect([host, search, hash]).toEqual(['upstream.test', '', ''])
      const segments = pathname.split('/')
      expect(segments.slice(0, 5)).toEqual(['', 'api', 'media', 'proxy', 'assets'])
      expect(segments.slice(5).map(decodeURIComponent)).toEqual([id])
    })
  }

  test('any text is one segment, or is rejected', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (id) => {
        try {
          expect(decodeURIComponent(pathOf(id).pathname.slice('/api/media/proxy/assets/'.length))).toBe(id)
        } catch (error) {
          expect(error).toBeInstanceOf(UpstreamRejectedError)
          expect(id === '' || id === '.' || id === '..' || id.toLowerCase() === 'groups').toBeTrue()
        }
      }),
    )
  })

  for (const id of ['', '.', '..', 'groups', 'GROUPS', '\ud800']) {
    test(`${JSON.stringify(id)} would be another path: 404 without an upstream call`, async () => {
      await using upstream = await startScriptedUpstream(json('{"Result":{}}'))
      for (const operation of [
        { action: 'GetAsset', id },
        { action: 'DeleteAsset', asset: ownAsset(id) },
        { action: 'UpdateAsset', asset: ownAsset(id), method: 'PUT', body: bodyOf('{}') },
      ] as const) {
        const error = await failure(upstream.upstream().send(operation))
        expect(error).toBeInstanceOf(UpstreamRejectedError)
        expect((error as UpstreamRejectedError).status).toBe(404)
      }
      expect(upstream.seen).toEqual([])
    })
  }

  test('the path on the wire equals the built path', async () => {
    await using upstream = await startScriptedUpstream(json('{"Result":{}}'))
    for (const id of hostile) await upstream.upstream().send({ action: 'GetAsset', id })
    expect(upstream.seen.map(({ target }) => decodeURIComponent(target.slice('/base/assets/'.length)))).toEqual(hostile)
  })
})
