import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { settingsOf } from '../../src/config/settings.ts'
import { type Config, readConfig } from '../../src/config.ts'

const page = readFileSync(new URL('../../src/settings.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| `([A-Z_\d]+)` \| (.+?) \| (.+) \|$/gm)].map(
  ([, name = '', defaultValue = '', meaning = '']) => ({ name, defaultValue, meaning }),
)

/** Environments that together make the configuration read every variable. */
const environments: readonly Readonly<Record<string, string>>[] = [
  { MEDIA_UPSTREAM_KIND: 'rest', MEDIA_UPSTREAM_URL: 'https://upstream.example', STORAGE_URL: 's3://bucket/' },
  { MEDIA_UPSTREAM_KIND: 'ark', MEDIA_UPSTREAM_URL: 'https://upstream.example' },
]

const namesRead = (env: Readonly<Record<string, string>>): readonly string[] => {
  const names = new Set<string>()
  const recording = new Proxy(env, {
    get(target, name: string) {
      names.add(name)
      return target[name]
    },
  })
  readConfig(recording)
  return [...names]
}

const valid = (env: Readonly<Record<string, string>>): Omit<Config, 'secrets'> => {
  const config = readConfig(env)
  if ('problems' in config) throw new Error(config.problems.join('\n'))
  return config
}

test('the page of the settings has each variable that the server reads once, and no other', () => {
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...new Set(environments.flatMap(namesRead))].toSorted())
  // A row that the pattern above does not match would be missing there, too.
  expect(page.match(/^\| `[A-Z]/gm)).toHaveLength(rows.length)
})

test('a variable that is set to its documented default changes nothing', () => {
  const ark = { MEDIA_UPSTREAM_KIND: 'ark', MEDIA_UPSTREAM_URL: 'https://upstream.example' }
  const credentials = { MEDIA_UPSTREAM_ACCESS_KEY: 'access-key', MEDIA_UPSTREAM_SECRET_KEY: 'secret-key' }
  const oidc = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'client', OIDC_CLIENT_SECRET: 'client-secret' }
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example' }
  const changed = rows.filter(({ name, defaultValue }) => {
    const [, literal] = /^`([^`]+)`$/.exec(defaultValue) ?? []
    if (literal === undefined || name === 'PUBLIC_URL') return false
    const env = {
      ...traces,
      ...(name.startsWith('OIDC') && oidc),
      ...(name.startsWith('MEDIA_UPSTREAM') && name !== 'MEDIA_UPSTREAM_KIND' && { ...ark, ...credentials }),
    }
    return !Bun.deepEquals(valid({ ...env, [name]: literal }), valid(env))
  })
  expect(changed).toEqual([])
})

test('the settings that operators read are those of the page, with their defaults', () => {
  const settings = settingsOf({}, valid({}))
  expect(Object.keys(settings).sort()).toEqual(rows.map(({ name }) => name).sort())
  for (const { name, defaultValue } of rows) {
    const [, literal] = /^`([^`]+)`$/.exec(defaultValue) ?? []
    if (literal !== undefined && name !== 'PUBLIC_URL') expect([name, String(settings[name])]).toEqual([name, literal])
    if (defaultValue === '–') expect([name, ['unset', null].includes(settings[name] as never)]).toEqual([name, true])
  }
})

test('they have what is set, and of a secret only whether it is set', () => {
  const secret = (name: string) => `secret-of-${name.toLowerCase()}`
  const names = [
    'SESSION_SECRET',
    'METRICS_TOKEN',
    'AUDIT_KEY',
    'MEDIA_UPSTREAM_KEY',
    'OIDC_CLIENT_SECRET',
    'VIDEO_UPSTREAM_KEY',
  ]
  const env = {
    ...Object.fromEntries(names.map((name) => [name, secret(name)])),
    ...{ OIDC_ISSUER: 'https://issuer.example', OIDC_CLIENT_ID: 'sluice', VIDEO_UPSTREAM_URL: 'https://video.example' },
    DATABASE_URL: 'postgres://sluice:secret-of-database@db.example/sluice',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret-of-collector',
    MEDIA_UPSTREAM_URL: 'https://upstream.example',
    TEXT_UPSTREAMS: JSON.stringify([
      { url: 'https://text.example/v1', keyEnv: 'TEXT_KEY', headers: { 'x-key': 'secret-of-header' } },
      { url: `https://text.example/${secret('METRICS_TOKEN')}/v1` },
    ]),
    TEXT_KEY: 'secret-of-text',
    ...{ PORT: '8080', GET_BODIES: 'off', VIDEO_SLOTS: '{"*":3}', HOST: '' },
  }
  const settings = settingsOf(env, valid(env))
  expect(JSON.stringify(settings)).not.toContain('secret-of')
  for (const name of [...names, 'OTEL_EXPORTER_OTLP_HEADERS']) expect([name, settings[name]]).toEqual([name, 'set'])
  expect(settings).toMatchObject({
    ...{ PORT: 8080, GET_BODIES: 'off', VIDEO_SLOTS: { '*': 3 }, HOST: '127.0.0.1', STORAGE_ACCESS_KEY: 'unset' },
    ...{ DATABASE_URL: 'postgres://sluice:***@db.example/sluice', PUBLIC_URL: 'http://127.0.0.1:8080' },
    TEXT_UPSTREAMS: [
      { url: 'https://text.example/v1', keyEnv: 'TEXT_KEY', headers: { 'x-key': 'set' } },
      { url: 'set' },
    ],
  })
})
