import { describe, expect, test } from 'bun:test'
import { codeOf, importsOf, sources } from './sources.ts'

/** Imports that break a rule, as `file -> import`. */
const breaches = (folder: string, allowed: (path: string, to: string, typeOnly: boolean) => boolean) =>
  sources(folder).flatMap((source) =>
    importsOf(source)
      .filter(({ to, typeOnly }) => !allowed(source.path, to, typeOnly))
      .map(({ to }) => `${source.path} -> ${to}`),
  )

const inside = (to: string) => /^(?:plugins|src|test|examples)\//.test(to)

describe('imports point one way', () => {
  test('there are sources to look at, and their imports are seen', () => {
    const found = sources('plugins').flatMap(importsOf)
    expect(found.length).toBeGreaterThan(30)
    expect(found.map(({ to }) => to)).toContain('plugins/shared/problem.ts')
    expect(found.map(({ to }) => to)).toContain('elysia')
  })

  test('shared imports nothing but shared', () => {
    expect(breaches('plugins/shared', (_, to) => !inside(to) || to.startsWith('plugins/shared/'))).toEqual([])
  })

  test('a plugin imports itself, shared, and the doors of other plugins', () => {
    const own = (path: string) => path.split('/').slice(0, 2).join('/')
    const allowed = (path: string, to: string) =>
      !inside(to) ||
      to.startsWith(`${own(path)}/`) ||
      to.startsWith('plugins/shared/') ||
      /^plugins\/[^/]+\/index\.ts$/.test(to)
    expect(breaches('plugins', allowed)).toEqual([])
  })

  test('src imports neither test nor examples', () => {
    expect(breaches('src', (_, to) => !/^(?:test|examples)\//.test(to))).toEqual([])
  })

  test('examples know the package only by its name', () => {
    expect(breaches('examples', (_, to) => !inside(to) || to.startsWith('examples/'))).toEqual([])
  })

  test('only doors and assemblies know Elysia', () => {
    const knows = /^(?:plugins\/[^/]+\/index|src\/(?:gateway|account|app|health|documentation))\.ts$/
    for (const folder of ['plugins', 'src']) {
      expect(breaches(folder, (path, to, typeOnly) => to !== 'elysia' || typeOnly || knows.test(path))).toEqual([])
    }
  })
})

describe('the world is entered by the entries alone', () => {
  const entries = /^src\/(?:config|server|admin|demo)(?:\/.*)?\.ts$|^src\/emulator\/main\.ts$/

  const naming = (pattern: RegExp, except?: RegExp) =>
    sources('plugins', 'src')
      .filter((source) => pattern.test(codeOf(source)) && !except?.test(source.path))
      .map(({ path }) => path)

  test('no environment, argument or exit outside the entries', () => {
    expect(naming(/\bprocess\s*\.\s*(?:env|argv|exit)\b/, entries)).toEqual([])
  })

  test('no runtime global outside the entries', () => {
    expect(naming(/\b(?:Bun|Deno)\s*\./, entries)).toEqual([])
  })

  test('no plugin writes to the console', () => {
    expect(
      sources('plugins')
        .filter((source) => /\bconsole\s*[.[]|[=(,]\s*console\b/.test(codeOf(source)))
        .map(({ path }) => path),
    ).toEqual([])
  })

  test('comments may mention what code may not', () => {
    expect(codeOf({ path: '', text: "/** Bun.serve */\nx() // Deno.serve\nconst a = 'https://b'" })).toBe(
      "\nx() \nconst a = 'https://b'",
    )
  })
})
