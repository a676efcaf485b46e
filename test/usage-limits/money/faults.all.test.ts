/** Runs with `--all`: the simulations in mutated copies of the sources, one process for each. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Fault, faults } from './faults.ts'

const root = join(import.meta.dir, '../../..')

describe('the simulations of limits', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-fault-'))
    for (const path of ['plugins', 'src', 'test/usage-limits', 'test/support', 'package.json', 'tsconfig.json'])
      cpSync(join(root, path), join(folder, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** What the simulations find in the copy of the sources, with a fault that is removed afterwards. */
  const findIn = (seeds: readonly number[], edits: Fault['edits'] = []): string => {
    try {
      for (const { file, from, to } of edits) {
        const path = join(folder, file)
        const parts = readFileSync(path, 'utf8').split(from)
        if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${from}`)
        writeFileSync(path, parts.join(to))
      }
      const { stdout, stderr } = spawnSync(
        process.execPath,
        ['test/usage-limits/money/find-faults.ts', ...seeds.map(String)],
        { cwd: folder, encoding: 'utf8', timeout: 300_000 },
      )
      return stdout.trim() || `error: ${stderr.trim().slice(-500)}`
    } finally {
      for (const { file } of edits) cpSync(join(root, file), join(folder, file))
    }
  }

  const firstSeeds = [...new Set(faults.map(({ firstSeed = 1 }) => firstSeed))]
  test('find nothing in the sources as they are', () => expect(findIn(firstSeeds)).toBe('[]'), 300_000)

  for (const { name, edits, firstSeed = 1 } of faults) {
    // If a change of the simulations hides the fault in the first seed, the search goes on with those that follow.
    const seeds = Array.from({ length: 6 }, (_, nth) => firstSeed + nth)
    test(`find that ${name}`, () => expect(findIn(seeds, edits)).toMatch(/^\["/), 300_000)
  }
})
