import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { completePages, examplesOf, pages, runBun, subpathOf, writeExamples } from './pages.ts'

describe('the page of each plugin, and of the other exports', () => {
  let folder: string
  let remove: () => void
  beforeAll(() => {
    ;({ folder, remove } = writeExamples('plugin-pages'))
  })
  afterAll(() => remove())

  for (const page of pages) {
    test(`${page.name} has an example`, () => {
      expect(examplesOf(page)[0]?.code).toContain(`'${subpathOf(page.name)}'`)
      // A block of code without its output would not run here.
      expect(examplesOf(page)).toHaveLength(page.text.split('```ts\n').length - 1)
    })
  }

  for (const example of pages.flatMap(examplesOf)) {
    test(`${example.file} prints the documented output`, async () => {
      expect(example.output).not.toBe('')
      const { status, output, errors } = await runBun(join(folder, example.file))
      expect({ status, errors }).toEqual({ status: 0, errors: '' })
      expect(output.trim()).toBe(example.output)
    })
  }

  for (const { name, text } of completePages) {
    test(`${name} has all required sections`, () => {
      const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
      expect(sections).toEqual(expect.arrayContaining(['Example', 'What it adds', 'Options', 'Errors', 'Decisions']))
      expect(text.startsWith(`# ${name}\n`)).toBe(true)
    })
  }
})
