import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { completePages, examplesOf, pages, runBun, subpathOf, writeExamples } from './pages.ts'

describe('the page of each plugin, and of the other exports', () => {
  const examples = pages.flatMap(examplesOf)
  let ran: Awaited<ReturnType<typeof runBun>>
  let remove: () => void
  beforeAll(async () => {
    const written = writeExamples('plugin-pages')
    remove = written.remove
    // pages.all.test.ts runs each in a process of its own.
    const paths = examples.map(({ file }) => join(written.folder, file))
    ran = await runBun(join(import.meta.dir, 'run-each.ts'), ...paths)
  }, 300_000)
  afterAll(() => remove())

  for (const page of pages) {
    test(`${page.name} has an example`, () => {
      expect(examplesOf(page)[0]?.code).toContain(`'${subpathOf(page.name)}'`)
      // A block of code without its output would not run here.
      expect(examplesOf(page)).toHaveLength(page.text.split('```ts\n').length - 1)
    })
  }

  test('each example runs without an error', () => {
    expect(ran).toMatchObject({ status: 0, errors: '' })
  })

  for (const { file, output } of examples) {
    test(`${file} prints the documented output`, () => {
      expect(output).not.toBe('')
      const [, printed = ''] = ran.output.split(`/${file}\n`)
      expect(printed.split(/^> \//m, 1)[0]?.trim()).toBe(output)
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
