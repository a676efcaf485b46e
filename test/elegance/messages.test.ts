import { describe, expect, test } from 'bun:test'
import { type Source, sources } from './sources.ts'

/** The messages of the asset library document. A template may build those with a number or a field. */
const sentences = [
  'Name is required',
  /\bmust be at most \$\{\w+\} characters/,
  'GroupType only supports AIGC',
  'an asset group with the same Name and GroupType already exists',
  'failed to check asset group',
  'failed to record asset group',
  'Seedance upstream unavailable',
  'GroupIds contain asset groups not belonging to you',
  'group_id is required',
  'group_id does not belong to your asset groups',
  'asset not found in your asset group',
  'upstream returned an invalid response',
  'upstream broke off its answer',
  'verification not found',
  'method not allowed',
] as const

/** The sources of the package, without the emulator, which has the upstream's messages, and without the documentation, which quotes. */
const shipped = sources('plugins', 'src').filter(
  ({ path }) => !path.startsWith('src/emulator/') && path !== 'src/documentation/index.ts',
)

const occurrences = (sentence: string | RegExp, { path, text }: Source): readonly string[] => {
  const pattern = typeof sentence === 'string' ? new RegExp(`['"\`]${RegExp.escape(sentence)}`, 'g') : sentence
  return [...text.matchAll(new RegExp(pattern, 'g'))].map(() => path)
}

describe('the sources contain each message once', () => {
  for (const sentence of sentences) {
    test(String(sentence), () => {
      expect(shipped.flatMap((source) => occurrences(sentence, source))).toHaveLength(1)
    })
  }
})
