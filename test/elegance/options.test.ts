import { describe, expect, test } from 'bun:test'
import { gateway } from 'sluice'
import { account } from 'sluice/account'
import { consoleTokens } from 'sluice/api-token'
import { consolePages } from 'sluice/console'
import { faceVerification } from 'sluice/face-verification'
import { createMetrics, metrics } from 'sluice/metrics'
import { ownership } from 'sluice/ownership'
import { paginationNormalizer } from 'sluice/pagination-normalizer'
import { openStore } from 'sluice/store'
import { textGeneration } from 'sluice/text-generation'
import { createUpstream, rest } from 'sluice/upstream-proxy'
import { identifyBySession, webSession } from 'sluice/web-session'
import { identify } from './fixture.ts'

const store = openStore('sqlite::memory:')
const secrets = ['sixteen bytes or more'] as const
const publicUrl = 'https://sluice.example'
const kind = rest({ url: 'http://upstream.invalid/api/media/proxy', key: 'upstream-key' })
const upstream = createUpstream({ kind })
const session = { store, publicUrl, secrets }

/** A factory with correct options, and the names of the options that the test replaces. */
const factories: Readonly<Record<string, readonly [(options: never) => unknown, object, readonly string[]]>> = {
  gateway: [gateway, { kind, store, identify, secrets }, ['prefix', 'segment', 'identify', 'secrets']],
  account: [account, session, ['prefix', 'secrets', 'publicUrl', 'cookieName', 'maxTokens']],
  'account with face verification': [
    (options: object) => account({ ...session, face: { store, upstream, ...options } }),
    {},
    ['prefix', 'maxOpen', 'taskMs'],
  ],
  'account with a console': [(options: object) => account({ ...session, console: options }), {}, ['prefix']],
  consoleTokens: [consoleTokens, { store, identify, publicUrl }, ['prefix', 'identify', 'publicUrl', 'maxTokens']],
  webSession: [webSession, session, ['prefix', 'secrets', 'publicUrl', 'cookieName', 'maxSessions', 'idleMs']],
  identifyBySession: [identifyBySession, session, ['secrets', 'publicUrl']],
  faceVerification: [
    faceVerification,
    { store, upstream, identify, publicUrl },
    ['prefix', 'identify', 'publicUrl', 'maxOpen', 'taskMs', 'leaseMs'],
  ],
  consolePages: [consolePages, {}, ['prefix']],
  metrics: [metrics, { metrics: createMetrics(), token: 'secret' }, ['prefix', 'token']],
  ownership: [ownership, { store, identify }, ['identify']],
  paginationNormalizer: [paginationNormalizer, { secrets }, ['secrets']],
  textGeneration: [textGeneration, { upstreams: [], identify }, ['prefix', 'identify', 'upstreams']],
}

/** Values that make no sense. */
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  prefix: ['', '/', 'api', '/api/', '/api//x', '/../x', '/:id', '/a?b', '/*', '/a b', 7],
  segment: ['', 'a/b', '../x', 'a b', '*'],
  identify: [undefined, null, 'ann'],
  publicUrl: [undefined, '', 'sluice.example', 7],
  secrets: [undefined, [], [''], ['fifteen letters'], [...secrets, 'short'], 'sixteen bytes or more'],
  cookieName: ['', 'a b', 'a=b', 'a;b'],
  upstreams: [undefined, { url: 'http://upstream.invalid/v1' }],
  token: [''],
  ...Object.fromEntries(
    ['maxTokens', 'maxSessions', 'maxOpen', 'idleMs', 'taskMs', 'leaseMs'].map((name) => [name, [0, -1, Number.NaN]]),
  ),
}

for (const [name, [factory, options, checked]] of Object.entries(factories)) {
  describe(name, () => {
    test('accepts correct options', () => {
      expect(factory(options as never)).toBeDefined()
    })

    for (const option of checked) {
      test(`throws TypeError for a wrong ${option}`, () => {
        expect(wrong[option]?.length).toBeGreaterThan(0)
        for (const value of wrong[option] ?? []) {
          const create = () => factory({ ...options, [option]: value } as never)
          expect(create, `${option}: ${JSON.stringify(value)}`).toThrow(TypeError)
        }
      })
    }
  })
}
