import { describe, expect, test } from 'bun:test'
import { seededRandom } from '../lists/fixture.ts'

interface Token {
  readonly type: string
  readonly raw: string
}

/** The page's reader of Markdown. It is JavaScript, and the page's own type check covers it. */
const {
  createReader,
  readBlocks,
}: {
  createReader(): (text: string) => readonly Token[]
  readBlocks(text: string): readonly Token[]
} = await import(new URL('../../plugins/console/page/chat/markdown.js', import.meta.url).href)

const pieces = [
  '# A heading\n\n',
  'A paragraph with **bold**, `code` and a [link](https://example.com).\nIts second line.\n\n',
  '- one\n- two\n\n  a paragraph of the second\n',
  '- [x] done\n\n',
  '1. first\n   - nested\n\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n',
  '```js\nlet x = 1\n\n\nlet y = 2\n```\n\n',
  '> quoted\n> > twice\n\n',
  '<b>markup</b>\n\n',
  'Underlined\n===\n\n',
  '---\n\n',
  '\n\n    indented code\n\n',
]

/** What a reader shows: the raw texts of its blocks, without blank lines. */
const shown = (tokens: readonly Token[]) =>
  tokens.filter(({ type }) => type !== 'space').map(({ type, raw }) => [type, raw.trimEnd()])

describe('a text that grows', () => {
  test('is read like the whole text, wherever it was cut', () => {
    for (let seed = 1; seed <= 150; seed++) {
      const random = seededRandom(seed)
      const whole = Array.from({ length: 8 }, () => pieces[Math.floor(random() * pieces.length)]).join('')
      const read = createReader()
      for (let end = 0; end < whole.length; end += 1 + Math.floor(random() * 40)) read(whole.slice(0, end))
      expect([seed, shown(read(whole))]).toEqual([seed, shown(readBlocks(whole))])
    }
  })

  test('keeps the tokens of all blocks but the last', () => {
    const read = createReader()
    const before = read('# One\n\nTwo\n\nThree\n')
    const after = read('# One\n\nTwo\n\nThree\nand more')
    expect(after.filter(({ type }) => type !== 'space').slice(0, 2)).toEqual(
      before.filter(({ type }) => type !== 'space').slice(0, 2),
    )
    for (const token of before.slice(0, -1)) expect(after).toContain(token)
    expect(after).not.toContain(before.at(-1) as Token)
  })

  test('is read again when it is another text', () => {
    const read = createReader()
    read('# One\n\nTwo\n\nThree')
    expect(shown(read('Four'))).toEqual([['paragraph', 'Four']])
  })
})

test('hostile texts are read without an error, and nothing is lost', () => {
  const many = (text: string, count: number) => text.repeat(count)
  for (const text of [
    `${many('> ', 5_000)}x`,
    many('[', 20_000),
    many('*a_ ', 5_000),
    `${many('a', 20_000)}@`,
    `${many('a|', 5_000)}\n${many('-|', 5_000)}\n${many('b|', 5_000)}`,
    many('&amp', 10_000),
    many('<a ', 10_000),
    Array.from({ length: 200 }, (_, depth) => `${' '.repeat(2 * depth)}- x`).join('\n'),
  ]) {
    const tokens = readBlocks(text)
    expect(tokens.length).toBeGreaterThan(0)
    expect(tokens.map(({ raw }) => raw).join('').length).toBe(text.length)
  }
})
