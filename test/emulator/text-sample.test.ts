import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { sampleOf } from '../../src/emulator/text/generation/sample.ts'
import { tokensOf } from '../../src/emulator/text/generation/tokens.ts'

const seed = 20260101

/** Schemas of many forms, as in applications. */
const schemas = fc.letrec<{ readonly any: z.ZodType }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(
      z.boolean(),
      z.null(),
      z.literal('fixed'),
      z.literal(7),
      z.enum(['b', 'a']),
      z.iso.date(),
      z.uuid(),
    ),
    fc.tuple(fc.integer({ min: -50, max: 50 }), fc.nat(9)).map(([min, more]) =>
      z
        .int()
        .min(min)
        .max(min + more),
    ),
    fc.tuple(fc.integer({ min: -50, max: 50 }), fc.nat(9)).map(([min, more]) =>
      z
        .number()
        .gt(min)
        .lt(min + more + 1),
    ),
    fc.integer({ min: 1, max: 9 }).map((step) =>
      z
        .number()
        .multipleOf(step)
        .min(step + 1),
    ),
    fc.tuple(fc.nat(9), fc.nat(9)).map(([min, more]) =>
      z
        .string()
        .min(min)
        .max(min + more),
    ),
    tie('any').map((inner) => inner.nullable()),
    fc.tuple(tie('any'), fc.nat(3)).map(([inner, min]) => z.array(inner).min(min)),
    fc.tuple(tie('any'), tie('any')).map(([one, two]) => z.tuple([one, two])),
    fc.tuple(tie('any'), tie('any')).map(([one, two]) => z.union([one, two])),
    fc.dictionary(fc.constantFrom('a', 'b', '名', 'with space'), tie('any')).map((shape) => z.object(shape)),
  ),
}))

describe('samples', () => {
  test('satisfy their schema', () => {
    fc.assert(
      fc.property(schemas.any, fc.string({ unit: 'grapheme', maxLength: 20 }), (schema, hint) => {
        const made = JSON.parse(JSON.stringify(sampleOf(z.toJSONSchema(schema), hint)))
        expect(schema.safeParse(made).error).toBeUndefined()
      }),
      { seed, numRuns: 500 },
    )
  })

  test('end for a recursive schema', () => {
    const Tree = z.object({
      name: z.string(),
      get left() {
        return z.union([Tree, z.null()])
      },
      get all() {
        return z.array(Tree)
      },
    })
    expect(Tree.safeParse(sampleOf(z.toJSONSchema(Tree), 'x')).error).toBeUndefined()
  })

  test('merge allOf and resolve $ref', () => {
    const schema = {
      $defs: { base: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
      allOf: [{ $ref: '#/$defs/base' }, { properties: { ok: { type: 'boolean' } }, required: ['ok'] }],
    }
    expect(sampleOf(schema, 'x')).toEqual({ id: 7, ok: true })
  })
})

describe('tokens', () => {
  test('never split a character, and joined give the text again', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.oneof(fc.constantFrom(' ', '\n', 'a', 'é'), fc.nat(0x10ffff).map(character)) }),
        (text) => {
          const tokens = tokensOf(text)
          expect(tokens.join('')).toBe(text)
          for (const token of tokens) {
            expect([...token].length).toBeGreaterThan(0)
            expect(token.isWellFormed()).toBe(true)
          }
        },
      ),
      { seed, numRuns: 500 },
    )
    expect(tokensOf('hello, wörld 你好')).toEqual(['hell', 'o', ',', ' wörl', 'd', ' 你好'])
  })
})

const character = (code: number) => (code >= 0xd800 && code < 0xe000 ? 'x' : String.fromCodePoint(code))
