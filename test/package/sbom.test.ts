import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PackageManifest, sbomOf } from '../../src/server/package/sbom.ts'
import { root } from './fixture.ts'
import { sbomProblems } from './sbom-schema.ts'

const lock = readFileSync(join(root, 'bun.lock'), 'utf8')
const manifest = (folder: string): PackageManifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
const own = manifest('.')
const bundled = ['elysia', '@sinclair/typebox', 'pino', '@noble/hashes'].map((name) => manifest(`node_modules/${name}`))

test('a list of components names each package with its license, its hash of the lock file, and what it needs', () => {
  const text = sbomOf(own, bundled, lock)
  const sbom = JSON.parse(text)
  expect(sbomProblems(sbom)).toEqual([])
  const elysia = sbom.components.find(({ name }: { name: string }) => name === 'elysia')
  expect(elysia).toMatchObject({
    version: bundled[0]?.version,
    licenses: [{ license: { id: 'MIT' } }],
    purl: `pkg:npm/elysia@${bundled[0]?.version}`,
  })
  const [{ alg, content }] = elysia.hashes
  const line = lock.split('\n').find((line) => line.startsWith('    "elysia": ["elysia@'))
  expect(alg).toBe('SHA-512')
  expect(line).toEndWith(`"sha512-${Buffer.from(content, 'hex').toString('base64')}"],`)
  const needs = sbom.dependencies.find(({ ref }: { ref: string }) => ref === elysia['bom-ref'])
  expect(needs.dependsOn).toEqual([`@sinclair/typebox@${bundled[1]?.version}`])
})

test('it is the same each time, whatever the order, and names a package once', () => {
  expect(sbomOf(own, [...bundled, ...bundled].toReversed(), lock)).toBe(sbomOf(own, bundled, lock))
})

test('a package that is not in the lock file is an error', () => {
  const [first, ...others] = bundled
  const changed = { ...first, version: '0.0.1' } as PackageManifest
  expect(() => sbomOf(own, [changed, ...others], lock)).toThrow('elysia@0.0.1 is not in the lock file')
})

test('the schema finds a document that is wrong', () => {
  const sbom = JSON.parse(sbomOf(own, bundled, lock))
  expect(sbomProblems({ ...sbom, specVersion: 1.6 })).not.toEqual([])
  expect(sbomProblems({ ...sbom, components: [{ name: 'elysia' }] })).not.toEqual([])
  expect(sbomProblems({ ...sbom, unknown: true })).not.toEqual([])
})
