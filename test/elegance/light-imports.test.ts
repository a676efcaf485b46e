import { describe, expect, test } from 'bun:test'
import { importsOf, sources } from './sources.ts'

/** All files that a file loads, directly or not, at once or later; type imports load nothing. */
const loadedBy = (entry: string, alsoLater = true): ReadonlySet<string> => {
  const all = new Map(sources('plugins', 'src').map((source) => [source.path, source]))
  const loaded = new Set<string>()
  const load = (path: string) => {
    const source = all.get(path)
    if (!source || loaded.has(path)) return
    loaded.add(path)
    for (const { to, typeOnly, later } of importsOf(source)) if (!typeOnly && (alsoLater || !later)) load(to)
  }
  load(entry)
  return loaded
}

const pluginsOf = (paths: Iterable<string>): string[] =>
  [...new Set([...paths].map((path) => path.split('/').slice(0, 2).join('/')))].sort()

describe('a plugin loads no other plugin that it does not need', () => {
  for (const [plugin, others] of Object.entries({
    account: ['api-token', 'console', 'face-verification', 'upstream-proxy', 'web-session'],
    admin: ['api-token', 'idempotency', 'usage-limits', 'web-session'],
    'api-token': [],
    'concurrency-limits': [],
    console: [],
    events: ['sse-relay'],
    'failure-advice': [],
    'file-storage': [],
    mcp: ['failure-advice'],
    metrics: [],
    'oidc-login': [],
    ownership: [],
    'pagination-normalizer': [],
    'sse-relay': [],
    'upstream-proxy': [],
    'usage-limits': [],
    'video-generation': ['failure-advice', 'idempotency'],
    'web-session': [],
    'text-generation': ['sse-relay'],
    tracing: [],
    shared: [],
  })) {
    test(plugin, () => {
      const expected = [...new Set([plugin, 'shared', ...others])].map((name) => `plugins/${name}`).sort()
      expect(pluginsOf(loadedBy(`plugins/${plugin}/index.ts`))).toEqual(expected)
    })
  }
})

test('only the plugin oidc-login loads openid-client, and the server loads it when a provider is configured', () => {
  const importers = sources('plugins', 'src').filter(({ text }) => staticImports(text).includes('openid-client'))
  expect(importers.map(({ path }) => path)).toEqual(['plugins/oidc-login/provider/provider.ts'])
  expect([...loadedBy('src/config.ts')]).not.toContain('plugins/oidc-login/provider/provider.ts')
  const entries = sources('plugins', 'src').filter(({ text }) =>
    staticImports(text).some((to) => to.endsWith('/oidc-login/index.ts')),
  )
  expect(entries.map(({ path }) => path)).toEqual([])
})

test('the admin command starts without Elysia', () => {
  const loaded = loadedBy('src/admin.ts', false)
  expect(loaded.size).toBeGreaterThan(50)
  const loaders = sources('plugins', 'src').filter(
    ({ path, text }) => loaded.has(path) && staticImports(text).includes('elysia'),
  )
  expect(loaders.map(({ path }) => path)).toEqual([])
})

test('only the plugin mcp loads the SDK of the Model Context Protocol, with the first message', () => {
  const importers = (specifier: RegExp) =>
    sources('plugins', 'src')
      .filter(({ text }) => staticImports(text).some((to) => specifier.test(to)))
      .map(({ path }) => path)
  expect(importers(/^@modelcontextprotocol\//)).toEqual(['plugins/mcp/protocol.ts'])
  expect(importers(/\/protocol\.ts$/).filter((path) => path.startsWith('plugins/mcp/'))).toEqual([])
})

test('only the plugin tracing loads OpenTelemetry, and the server loads that plugin when traces are configured', () => {
  const importers = (specifier: RegExp) =>
    sources('plugins', 'src')
      .filter(({ text }) => staticImports(text).some((to) => specifier.test(to)))
      .map(({ path }) => path)
  expect(importers(/^@opentelemetry\//).filter((path) => !path.startsWith('plugins/tracing/'))).toEqual([])
  expect(importers(/^@opentelemetry\//)).not.toBeEmpty()
  expect(importers(/\/plugins\/tracing\//)).toEqual([])
})

const staticImports = (text: string): string[] =>
  [...text.matchAll(/^import (?!type\b)[^'()]*'([^']+)'/gm)].map(([, to = '']) => to)
