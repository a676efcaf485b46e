import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

describe('no file is too long', () => {
  const root = join(import.meta.dir, '../..')
  for (const [folder, most] of [
    ['src', 300],
    ['plugins', 300],
    ['test', 400],
  ] as const) {
    test(`${folder}: at most ${most} lines`, () => {
      const files = [...new Bun.Glob(`${folder}/**/*`).scanSync(root)]
      expect(files).not.toBeEmpty()
      const lengths = files.map(
        (path) => [path, readFileSync(join(root, path), 'utf8').split('\n').length - 1] as const,
      )
      expect(lengths.filter(([, lines]) => lines > most)).toEqual([])
    })
  }
})
