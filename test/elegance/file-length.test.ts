import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sources } from './sources.ts'

const isComment = (line: string): boolean => /^\s*(?:\/\/|\/?\*)/.test(line)

describe('no file is too long', () => {
  for (const folder of ['src', 'plugins']) {
    test(`${folder}: at most 285 lines besides comments`, () => {
      const lengths = sources(folder).map(
        ({ path, text }) => [path, text.split('\n').filter((line) => !isComment(line)).length] as const,
      )
      expect(lengths).not.toBeEmpty()
      expect(lengths.filter(([, lines]) => lines > 285)).toEqual([])
    })
  }

  test('test: at most 400 lines, except of the file that the runner writes', () => {
    const root = join(import.meta.dir, '../..')
    const files = [...new Bun.Glob('test/**/*').scanSync(root)].filter((path) => path !== 'test/runner/timings.json')
    const lengths = files.map((path) => [path, readFileSync(join(root, path), 'utf8').split('\n').length - 1] as const)
    expect(lengths).not.toBeEmpty()
    expect(lengths.filter(([, lines]) => lines > 400)).toEqual([])
  })
})

test('no line of a comment is wider than 120 characters, except one with an address', () => {
  const wide = sources('src', 'plugins').flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => line.length > 120 && isComment(line) && !/https?:|biome-ignore/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(wide).toEqual([])
})
