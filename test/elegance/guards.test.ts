import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { guardedHost, type Moment } from './guarded-host.ts'

type GuardedHost = typeof guardedHost

const moments: readonly Moment[] = ['at once', 'late']
const root = join(import.meta.dir, '../..')
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(root, 'node_modules/.guards-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The host app after a bundler that rewrites functions. */
const minified = async (format: 'esm' | 'cjs'): Promise<GuardedHost> => {
  const entrypoint = join(import.meta.dir, 'guarded-host.ts')
  const outdir = join(folder, format)
  const { outputs } = await Bun.build({ entrypoints: [entrypoint], outdir, format, target: 'bun', minify: true })
  const made = await import(outputs[0]?.path ?? '')
  return made.guardedHost ?? made.default.guardedHost
}

const hosts: readonly (readonly [string, () => Promise<GuardedHost>])[] = [
  ['from source', async () => guardedHost],
  ['minified, as a module', () => minified('esm')],
  ['minified, as CommonJS', () => minified('cjs')],
]

/** The routes that have a guard. */
const guardedRoutes = ({ routes }: ReturnType<GuardedHost>) =>
  routes.filter(({ hooks }) => [hooks.beforeHandle].flat().some((hook) => hook !== undefined))

for (const [how, load] of hosts) {
  for (const moment of moments) {
    test(`${how}: no guarded route runs for an unknown caller, identified ${moment}`, async () => {
      const ran: string[] = []
      const app = (await load())(moment, (route) => ran.push(route))
      const routes = guardedRoutes(app)
      expect(routes.length).toBeGreaterThan(13)
      for (const { method, path } of routes) {
        const url = `http://localhost${path.replaceAll(/:\w+/g, 'some-id')}`
        const headers = { authorization: 'Bearer sk-unknown', cookie: '__Host-session=unknown' }
        const { status } = await app.handle(new Request(url, { method, headers }))
        expect([method, path, status]).toEqual([method, path, 401])
      }
      expect(ran).toEqual([])
    })
  }
}

/**
 * Elysia 1.4 awaits a hook that is an `async` function. For any other hook it searches the source for signs of a promise (`isAsync` in its compose.ts).
 * A transpiler may remove these signs: then Elysia does not await the hook, and the route runs without its guard.
 */
test('every guard is an async function, so that Elysia awaits it', () => {
  for (const { method, path, hooks } of guardedRoutes(guardedHost('late', () => undefined))) {
    const kinds = [hooks.beforeHandle].flat().map((hook) => (typeof hook === 'function' ? hook : hook?.fn))
    expect([method, path, ...kinds.map((guard) => guard?.constructor.name)]).toEqual([
      method,
      path,
      ...kinds.map(() => 'AsyncFunction'),
    ])
  }
})
