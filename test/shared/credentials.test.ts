import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createCredentialSearch } from '../../plugins/shared/upstream/credentials.ts'

const secret = 'ark/secret+key="0123\\é~'
const reveals = createCredentialSearch([secret, undefined, 'other-secret', 'short'])
const bytes = (text: string) => new TextEncoder().encode(text)
const everywhere = (text: string) => [reveals(text), reveals(bytes(text)), reveals('a', bytes('b'), `x${text}y`)]
const unicode = (text: string) =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
const percent = (text: string) => [...bytes(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

describe('a credential is found', () => {
  const disguises: Record<string, string> = {
    unchanged: secret,
    'another one': 'other-secret',
    'as a JSON string': JSON.stringify(secret),
    'with escaped slashes': JSON.stringify(secret).replaceAll('/', '\\/'),
    'in JSON within JSON': JSON.stringify(JSON.stringify(secret)),
    'in JSON within JSON, with escaped slashes': JSON.stringify(JSON.stringify(secret).replaceAll('/', '\\/')),
    'with every character escaped': unicode(secret),
    'with every character escaped in upper case': unicode(secret)
      .replace(/[a-f]/g, (digit) => digit.toUpperCase())
      .replaceAll('\\U', '\\u'),
    'with every character escaped twice': JSON.stringify(unicode(secret)),
    'in a URL': encodeURIComponent(secret),
    'in a URL within a URL': encodeURIComponent(encodeURIComponent(secret)),
    'in HTML': secret.replaceAll('"', '&#34;').replaceAll('/', '&#x2F;').replaceAll('+', '&#043;'),
    'with every character as an entity': Array.from(secret, (character) => `&#${character.codePointAt(0)};`).join(''),
    'with every byte encoded': percent(secret),
    'with every byte encoded in upper case': percent(secret).toUpperCase(),
  }
  for (const [how, text] of Object.entries(disguises)) {
    test(how, () => {
      for (const around of ['', 'x', '{"message":"', '\\', '%', 'ark', '你好']) {
        expect(everywhere(around + text + around)).toEqual([true, true, true])
      }
    })
  }

  test('in base64 of both alphabets, at any offset of a longer text', () => {
    for (const before of ['', 'a', 'ab', 'user:', 'Bearer ']) {
      for (const after of ['', '!', '!!', ' and more']) {
        const base64 = Buffer.from(before + secret + after).toString('base64')
        for (const text of [base64, base64.replaceAll('+', '-').replaceAll('/', '_'), base64.replaceAll('/', '\\/')]) {
          expect([before, after, ...everywhere(text)]).toEqual([before, after, true, true, true])
        }
      }
    }
  })

  test('with a different escape for each character', () => {
    const forms = (character: string) => [
      character,
      unicode(character),
      unicode(character).toUpperCase().replaceAll('\\U', '\\u'),
      percent(character),
      `\\${character}`,
    ]
    const characters = Array.from(secret)
    fc.assert(
      fc.property(
        fc.tuple(...characters.map((character) => fc.constantFrom(...forms(character)))),
        fc.string(),
        (parts, around) => everywhere(around + parts.join('') + around).every(Boolean),
      ),
      { numRuns: 300 },
    )
  })

  test('anywhere in a large body', () => {
    const filling = JSON.stringify({ URL: `https://e.example/a%2Fb?c=\\u0041`, Name: '名' }).repeat(2_000)
    for (const form of [secret, unicode(secret), Buffer.from(secret).toString('base64')]) {
      expect(reveals(bytes(filling + form + filling))).toBe(true)
    }
    expect(reveals(bytes(filling))).toBe(false)
  })
})

describe('nothing else is found', () => {
  test('similar texts, with a secret that is a short word, and with an empty secret', () => {
    for (const text of [
      '',
      secret.slice(1),
      secret.slice(0, -1),
      secret.toUpperCase(),
      'short',
      'a short word',
      '\\u0061',
    ]) {
      expect(everywhere(text)).toEqual([false, false, false])
    }
    expect(createCredentialSearch([])('', 'anything')).toBe(false)
    expect(createCredentialSearch([undefined, ''])('', 'anything')).toBe(false)
  })

  test('the time of the search is linear in the length of any body', () => {
    for (const text of ['\\', '\\u00', '%', '%25', 'ark/', '\\/', 'a\\']) {
      expect(reveals(bytes(text.repeat(300_000)))).toBe(false)
    }
  })
})
