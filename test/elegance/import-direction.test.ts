import { describe, expect, test } from 'bun:test'
import { codeOf, importsOf, sources } from './sources.ts'

/** Imports that violate a rule, as `file -> import`. */
const breaches = (folder: string, allowed: (path: string, to: string, typeOnly: boolean) => boolean) =>
  sources(folder).flatMap((source) =>
    importsOf(source)
      .filter(({ to, typeOnly }) => !allowed(source.path, to, typeOnly))
      .map(({ to }) => `${source.path} -> ${to}`),
  )

const inside = (to: string) => /^(?:plugins|src|test|examples)\//.test(to)

describe('the direction of imports', () => {
  test('the test finds sources and their imports', () => {
    const found = sources('plugins').flatMap(importsOf)
    expect(found.length).toBeGreaterThan(30)
    expect(found.map(({ to }) => to)).toContain('plugins/shared/problem.ts')
    expect(found.map(({ to }) => to)).toContain('elysia')
  })

  test('shared imports only shared', () => {
    expect(breaches('plugins/shared', (_, to) => !inside(to) || to.startsWith('plugins/shared/'))).toEqual([])
  })

  test('a plugin imports its own files, shared, and the index files of other plugins', () => {
    const own = (path: string) => path.split('/').slice(0, 2).join('/')
    const allowed = (path: string, to: string) =>
      !inside(to) ||
      to.startsWith(`${own(path)}/`) ||
      to.startsWith('plugins/shared/') ||
      /^plugins\/[^/]+\/index\.ts$/.test(to)
    expect(breaches('plugins', allowed)).toEqual([])
  })

  test('chat and responses import neither each other nor the bridge; the bridge may import both', () => {
    const folder = 'plugins/text-generation'
    const sibling = new RegExp(`^${folder}/(?:chat|responses|bridge)/`)
    for (const protocol of ['chat', 'responses']) {
      const own = `${folder}/${protocol}`
      expect(sources(own).length).toBeGreaterThan(3)
      expect(breaches(own, (_, to) => to.startsWith(`${own}/`) || !sibling.test(to))).toEqual([])
    }
  })

  test('the bridge is chosen in one file', () => {
    const importers = sources('plugins', 'src').filter((source) =>
      importsOf(source).some(({ to }) => to === 'plugins/text-generation/bridge/bridge.ts'),
    )
    expect(importers.map(({ path }) => path)).toEqual(['plugins/text-generation/call/protocols.ts'])
  })

  test('src imports neither test nor examples', () => {
    expect(breaches('src', (_, to) => !/^(?:test|examples)\//.test(to))).toEqual([])
  })

  test('the emulator imports only itself and Node modules', () => {
    expect(sources('src/emulator').flatMap(importsOf).length).toBeGreaterThan(100)
    const allowed = (_: string, to: string) => to.startsWith('src/emulator/') || to.startsWith('node:')
    expect(breaches('src/emulator', allowed)).toEqual([])
  })

  test('examples import the package only by its name', () => {
    expect(breaches('examples', (_, to) => !inside(to) || to.startsWith('examples/'))).toEqual([])
  })

  test('only index files and assemblies import Elysia', () => {
    const knows = /^(?:plugins\/(?:[^/]+\/){1,2}index|src\/(?:app|app\/health|documentation\/index))\.ts$/
    for (const folder of ['plugins', 'src']) {
      expect(breaches(folder, (path, to, typeOnly) => to !== 'elysia' || typeOnly || knows.test(path))).toEqual([])
    }
  })
})

describe('access to the runtime', () => {
  const entries = /^src\/(?:config|server|admin|cli|demo)(?:\/.*)?\.ts$|^src\/emulator\/main\.ts$/

  const naming = (pattern: RegExp, except?: RegExp) =>
    sources('plugins', 'src')
      .filter((source) => pattern.test(codeOf(source)) && !except?.test(source.path))
      .map(({ path }) => path)

  test('only entry files use the environment, arguments and exit', () => {
    expect(naming(/\bprocess\s*\.\s*(?:env|argv|exit)\b/, entries)).toEqual([])
  })

  test('only entry files use runtime globals', () => {
    expect(naming(/\b(?:Bun|Deno)\s*\./, entries)).toEqual([])
  })

  test('no plugin writes to the console', () => {
    expect(
      sources('plugins')
        .filter((source) => /\bconsole\s*[.[]|[=(,]\s*console\b/.test(codeOf(source)))
        .map(({ path }) => path),
    ).toEqual([])
  })

  test('comments and strings are no code', () => {
    expect(codeOf({ path: '', text: "/** Bun.serve */\nx() // Deno.serve\nconst a = 'https://b'" })).toBe(
      "\nx() \nconst a = 'https://b'",
    )
  })
})
