import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FieldProblem } from '../../plugins/shared/field-problem.ts'
import { toJson } from '../../plugins/shared/json/json.ts'
import { assetsIn } from '../../plugins/shared/media/media-fields.ts'
import { anyCharacter } from '../support/any-character.ts'
import { mediaRequests } from './media-requests.ts'

const foreign = 'asset-20260318071009-hers0'

/** The ids whose owner is checked before the request passes. Undefined: the request is rejected with 400. */
const questionsOf = (request: object): readonly string[] | undefined => {
  try {
    return assetsIn(toJson(request)).map(({ id }) => id)
  } catch (error) {
    if (error instanceof FieldProblem && error.status === 400) return undefined
    throw error
  }
}

const way = fc.constantFrom(...mediaRequests)

describe('no spelling', () => {
  test('passes an asset without an ownership check', () => {
    const letters = fc.constantFrom(
      ...[(c: string) => c, (c: string) => c.toUpperCase(), (c: string) => `%${c.charCodeAt(0).toString(16)}`],
      ...[(c: string) => String.fromCodePoint((c.codePointAt(0) ?? 0) + 0xfee0), (c: string) => `${c}\u200b`],
      ...[
        (c: string) => `${c}\t`,
        (c: string) => `&#${c.charCodeAt(0)};`,
        (c: string) => `${c}\u0301`,
        (c: string) => `\\${c}`,
      ],
      ...[(c: string) => c.replace('s', 'ſ').replace('a', 'а'), (c: string) => (c === '/' ? '\\' : c), () => ''],
    )
    const address = `asset://${foreign}`
    const change = fc.tuple(fc.nat(address.length - 1), letters)
    const around = fc.constantFrom(
      '',
      '',
      ' ',
      '\n',
      '\0',
      '"',
      '<',
      'x',
      'https:',
      'https://a/,',
      'data:',
      '//',
      '\ufeff',
      '(',
    )
    let asked = 0
    fc.assert(
      fc.property(way, fc.array(change, { maxLength: 4 }), around, around, (way, changes, before, after) => {
        const spelled = [...address]
        for (const [at, changed] of changes) spelled[at] = changed(address.charAt(at))
        const text = before + spelled.join('') + after
        // With a host in front it is the path of a web URL.
        if (text.startsWith('https://a/,') && !text.includes(',asset:/')) return
        // With a comma it is the content of a data URL.
        if (text.startsWith('data:') && text.includes(',')) return
        const questions = questionsOf(way.request(text))
        if (!questions) return
        asked++
        expect(questions).toEqual([text.slice('asset://'.length)])
        expect(text).toMatch(/^asset:\/\/[A-Za-z0-9._~-]+$/)
      }),
      { seed: 3, numRuns: 5000 },
    )
    expect(asked).toBeGreaterThan(20)
  })

  test('passes another scheme', () => {
    const scheme = fc
      .stringMatching(/^[A-Za-z][A-Za-z0-9+.-]{0,10}$/)
      .filter((scheme) => !['https', 'http', 'data', 'asset'].includes(scheme.toLowerCase()))
    const rest = fc.constantFrom('//files.example/a.png', '/etc/passwd', 'x', '', `//${foreign}`, ',x', ';base64,AAAA')
    fc.assert(
      fc.property(way, scheme, rest, (way, scheme, rest) => {
        expect(questionsOf(way.request(`${scheme}:${rest}`))).toBeUndefined()
      }),
      { seed: 3, numRuns: 2000 },
    )
  })

  test('passes a text that is no allowed URL', () => {
    const start = fc.constantFrom('', 'https://', 'http:', 'asset://', 'data:', 'asset-', '/9j/', 'iVBORw0KGgo')
    const text = fc.tuple(start, fc.string({ unit: anyCharacter, maxLength: 30 })).map((parts) => parts.join(''))
    let passed = 0
    fc.assert(
      fc.property(way, text, (way, text) => {
        if (questionsOf(way.request(text))?.length !== 0 || text === '') return
        // Base64 is valid only in data fields.
        if (way.param.endsWith('file_data') && /^[\w+/=]+$/.test(text)) return
        passed++
        // Another URL parser must agree with each URL that passes.
        const { protocol } = URL.parse(text) ?? { protocol: /^https?:/.exec(text)?.[0] }
        expect(['http:', 'https:', 'data:']).toContain(protocol ?? text)
      }),
      { seed: 3, numRuns: 5000 },
    )
    expect(passed).toBeGreaterThan(100)
  })
})
