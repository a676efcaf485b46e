import { expect, test } from 'bun:test'
import { codeOf, sources } from './sources.ts'

/** The emulator stands for another product, with words of its own. The pages of the console are a program in the browser. */
const product = sources('plugins', 'src').filter(({ path }) => !path.startsWith('src/emulator/'))

const declaration = /^export (?:async |abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

/** The files that declare each exported name. A re-export is no declaration. */
const filesByName = new Map<string, string[]>()
for (const source of product) {
  for (const [, name = ''] of codeOf(source).matchAll(declaration)) {
    filesByName.set(name, [...(filesByName.get(name) ?? []), source.path])
  }
}

test('each exported name of the product has one declaration, so that it means one thing', () => {
  expect(filesByName.size).toBeGreaterThan(500)
  expect([...filesByName].filter(([, files]) => files.length > 1)).toEqual([])
})

test('no name is exported under another one', () => {
  const renamed = product.filter((source) => /^export (?:type )?\{[^}]*\bas\b/m.test(codeOf(source)))
  expect(renamed.map(({ path }) => path)).toEqual([])
})
