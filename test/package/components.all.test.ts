/** Runs with `--all`: builds the package, and compares its list of components with the code in its files. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConsumer, root } from './fixture.ts'
import { sbomProblems } from './sbom-schema.ts'

setDefaultTimeout(300_000)

interface Component {
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly licenses: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[]
}

/** Licenses that allow to pass a copy on, also without its sources, as long as their text comes with it. */
const allowed = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'Unlicense']

const { package: folder } = await createConsumer()
const sbom = JSON.parse(readFileSync(join(folder, 'dist/sbom.cdx.json'), 'utf8')) as {
  readonly components: readonly Component[]
}
const nameOf = ({ group, name }: Component): string => (group === undefined ? name : `${group}/${name}`)

test('the list of components is valid, and has what the bundle contains', () => {
  expect(sbomProblems(sbom)).toEqual([])
  // The bundler names each module above its code.
  const command = readFileSync(join(folder, 'dist/sluice.js'), 'utf8')
  const modules = [...command.matchAll(/^\/\/ (?:.*\/)?node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm)]
  // The page of the console is one line without such comments.
  const page = readFileSync(join(root, 'plugins/console/texts/libraries.ts'), 'utf8')
  const libraries = [...page.matchAll(/node_modules\/((?:@[^/']+\/)?[^/']+)\//g)]
  expect(modules.length).toBeGreaterThan(500)
  expect(libraries.length).toBeGreaterThan(2)
  const contained = new Set([...modules, ...libraries].map(([, name = '']) => name))
  expect([...new Set(sbom.components.map(nameOf))].sort()).toEqual([...contained].sort())
})

test('each component is in the lock file, and its license text comes with the package', () => {
  const texts = readFileSync(join(folder, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  const lock = readFileSync(join(root, 'bun.lock'), 'utf8')
  for (const component of sbom.components) {
    const id = `${nameOf(component)} ${component.version}`
    expect([id, texts.includes(`\n${id} (`) || texts.startsWith(`${id} (`)]).toEqual([id, true])
    expect(lock).toContain(`["${nameOf(component)}@${component.version}", `)
  }
})

test('each component has a license that allows to pass it on', () => {
  const others = sbom.components.filter(
    ({ licenses }) => !licenses.some(({ license, expression }) => allowed.includes(license?.id ?? expression ?? '')),
  )
  expect(others.map(nameOf)).toEqual([])
})
