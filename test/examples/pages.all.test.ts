/** Runs with `--all`: the examples of all pages in a process of Bun and one of Deno each, and the compiler. pages.test.ts runs all of them in one process of Bun. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { auditFile, flagsOfExample, startDeno, unusedGrants } from '../deno/fixture.ts'
import { completePages, examplesOf, pages, runBun, writeExamples } from './pages.ts'

describe('the page of each plugin, and of the other exports', () => {
  let folder: string
  let importMap: string
  let remove: () => void
  beforeAll(() => {
    ;({ folder, importMap, remove } = writeExamples('all-plugin-pages'))
  })
  afterAll(() => remove())

  for (const { file, output } of pages.flatMap(examplesOf)) {
    test(`${file} runs on Bun`, async () => {
      const ran = await runBun(join(folder, file))
      expect({ ...ran, output: ran.output.trim() }).toEqual({ status: 0, output, errors: '' })
    })
  }

  for (const { file, name, output } of completePages.flatMap(examplesOf)) {
    test(`${file} runs on Deno, with the permissions of the page about Deno`, async () => {
      const flags = flagsOfExample(name)
      using audit = auditFile()
      const example = startDeno([...flags, `--import-map=${importMap}`, join(folder, file)], {
        DENO_AUDIT_PERMISSIONS: audit.path,
      })
      expect(await example.ended()).toEqual({ status: 0, output, errors: '' })
      // A further example may need less.
      if (file.endsWith('-1.ts')) expect(unusedGrants(flags, audit.path)).toEqual([])
    })
  }

  test('examples compile', async () => {
    const { status, output } = await runBun('x', '--bun', 'tsc', '-p', join(folder, 'tsconfig.json'), '--noEmit')
    expect({ status, output }).toEqual({ status: 0, output: '' })
  }, 300_000)
})
