import { expect, test } from 'bun:test'
import { codeOf, type Source, sources } from './sources.ts'

/** How many consecutive lines of code may not stand in two places. */
const length = 10

/** Files that may have the same lines, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'src/emulator/call-limits.ts plugins/upstream-proxy/library/ark-limits.ts':
    'The emulator has the limits that the vendor documents, whatever the gateway believes.',
  'src/store/rate-limits.ts src/store/rate-limits.ts':
    'Two statements take a slot, and a part that statements share has no parameters.',
}

/** The lines of code that contain a word, without indentation and imports. */
const linesOf = (source: Source): readonly string[] =>
  codeOf(source)
    .replace(/^import\b[^']*'[^']*'.*$/gm, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /\w/.test(line))

/** Pairs of files with the same lines, each pair once, with the first line that is the same. */
const clonesOf = (files: readonly Source[]): ReadonlyMap<string, string> => {
  const clones = new Map<string, string>()
  const seen = new Map<string, string>()
  for (const file of files) {
    const lines = linesOf(file)
    for (let at = 0; at + length <= lines.length; at++) {
      const text = lines.slice(at, at + length).join('\n')
      const other = seen.get(text)
      if (other === undefined) seen.set(text, file.path)
      else if (!clones.has(`${other} ${file.path}`)) clones.set(`${other} ${file.path}`, lines[at] ?? '')
    }
  }
  return clones
}

test(`no ${length} lines of code stand in two places`, () => {
  const files = sources('src', 'plugins', 'examples', 'test')
  expect(files.length).toBeGreaterThan(1000)
  const clones = clonesOf(files)
  expect([...clones].filter(([pair]) => !(pair in exceptions))).toEqual([])
  expect(Object.keys(exceptions).filter((pair) => !clones.has(pair))).toEqual([])
})

test('lines that stand in two places are found, whatever their indentation and comments', () => {
  const lines = Array.from({ length }, (_, nth) => `const name${nth} = ${nth}`)
  const text = lines.join('\n')
  const moved = lines.map((line) => `  ${line} // Why.\n}`).join('\n\n')
  expect([...clonesOf([source('a.ts', text), source('b.ts', `f()\n${moved}`)])]).toEqual([
    ['a.ts b.ts', 'const name0 = 0'],
  ])
  expect([...clonesOf([source('a.ts', text), source('b.ts', lines.slice(1).join('\n'))])]).toEqual([])
})

const source = (path: string, text: string): Source => ({ path, text })
