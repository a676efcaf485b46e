import { describe, expect, test } from 'bun:test'
import { gateway } from 'sluice'
import { account, usageRoutes } from 'sluice/account'
import { admin } from 'sluice/admin'
import { apiToken, consoleTokens, identifyByToken } from 'sluice/api-token'
import { concurrencyLimits } from 'sluice/concurrency-limits'
import { consolePages } from 'sluice/console'
import { events } from 'sluice/events'
import { faceVerification } from 'sluice/face-verification'
import { mcp } from 'sluice/mcp'
import { createMetrics, metrics } from 'sluice/metrics'
import { oidcLogin } from 'sluice/oidc-login'
import { createOwnership, ownership } from 'sluice/ownership'
import { createCursors, paginationNormalizer } from 'sluice/pagination-normalizer'
import { sseRelay } from 'sluice/sse-relay'
import { openStore } from 'sluice/store'
import { textGeneration } from 'sluice/text-generation'
import { ark, createUpstream, rest, upstreamProxy } from 'sluice/upstream-proxy'
import { videoGeneration } from 'sluice/video-generation'
import { beginSession, identifyBySession, webSession } from 'sluice/web-session'
import { identify } from './fixture.ts'

const store = openStore('sqlite::memory:')
const secrets = ['sixteen bytes or more'] as const
const publicUrl = 'https://sluice.example'
const kind = rest({ url: 'http://upstream.invalid/api/media/proxy', key: 'upstream-key' })
const upstream = createUpstream({ kind })
const session = { store, publicUrl, secrets }
const text = { upstreams: [], identify }
const credentials = { accessKey: 'access-key', secretKey: 'secret-key', region: 'cn-beijing' }
const limits = ['maxRequests', 'maxStreams', 'maxUnreadBodyBytes']

/** A factory with correct options, and the names of the options that the test replaces. */
const factories: Readonly<Record<string, readonly [(options: never) => unknown, object, readonly string[]]>> = {
  gateway: [
    gateway,
    { kind, store, identify, secrets },
    ['prefix', 'segment', 'identify', 'secrets', 'store', 'timeoutMs'],
  ],
  account: [account, session, ['prefix', 'secrets', 'publicUrl', 'cookieName', 'maxTokens', 'store']],
  'account with face verification': [
    (options: object) => account({ ...session, face: { upstream, ...options } }),
    {},
    ['prefix', 'maxOpen', 'taskMs', 'upstream'],
  ],
  'account with a console': [(options: object) => account({ ...session, console: options }), {}, ['prefix', 'login']],
  admin: [admin, { store, identify, publicUrl, secrets }, ['prefix', 'store', 'identify', 'publicUrl', 'secrets']],
  usageRoutes: [usageRoutes, { store, identify }, ['prefix', 'store', 'identify']],
  apiToken: [apiToken, { store }, ['store']],
  identifyByToken: [identifyByToken, { store }, ['store']],
  concurrencyLimits: [concurrencyLimits, {}, limits],
  'concurrencyLimits for each user': [(user: object) => concurrencyLimits({ user }), {}, limits],
  consoleTokens: [
    consoleTokens,
    { store, identify, publicUrl },
    ['prefix', 'identify', 'publicUrl', 'maxTokens', 'store'],
  ],
  webSession: [webSession, session, ['prefix', 'secrets', 'publicUrl', 'cookieName', 'maxSessions', 'idleMs', 'store']],
  identifyBySession: [identifyBySession, session, ['secrets', 'publicUrl', 'store']],
  faceVerification: [
    faceVerification,
    { store, upstream, identify, publicUrl },
    ['prefix', 'identify', 'publicUrl', 'maxOpen', 'taskMs', 'leaseMs', 'maxBodyBytes', 'store', 'upstream'],
  ],
  events: [
    events,
    { store, identify },
    ['prefix', 'identify', 'store', 'keepMs', 'everyMs', 'heartbeatMs', 'maxStreams'],
  ],
  'events with webhooks': [
    (options: object) => events({ store, identify, webhooks: { store, identify, publicUrl, ...options } }),
    {},
    ['identify', 'publicUrl', 'maxWebhooks', 'store'],
  ],
  consolePages: [consolePages, {}, ['prefix', 'login']],
  oidcLogin: [
    oidcLogin,
    {
      ...{ ...session, issuer: 'https://provider.invalid', clientId: 'client', clientSecret: 'client-secret' },
      beginSession: async () => undefined,
    },
    [
      ...['issuer', 'clientId', 'clientSecret', 'scopes', 'store', 'beginSession', 'secrets', 'publicUrl', 'prefix'],
      ...['returnTo', 'allowed', 'admin', 'maxLoginMs', 'timeoutMs', 'cookieName'],
    ],
  ],
  beginSession: [beginSession, session, ['secrets', 'publicUrl', 'store']],
  mcp: [
    mcp,
    { fetch: () => new Response(), identify, secrets, publicUrl },
    ['prefix', 'identify', 'secrets', 'publicUrl', 'maxBodyBytes', 'fetch', 'confirmAbove', 'maxWaitMs'],
  ],
  metrics: [metrics, { metrics: createMetrics(), token: 'secret' }, ['prefix', 'token', 'metrics']],
  createOwnership: [createOwnership, { store }, ['store']],
  ownership: [ownership, { store, identify }, ['identify', 'store']],
  'ownership with rules': [ownership, { rules: createOwnership({ store }), identify }, ['identify', 'rules']],
  paginationNormalizer: [paginationNormalizer, { secrets }, ['secrets']],
  createCursors: [({ signing }: { signing: string[] }) => createCursors(signing), { signing: secrets }, ['signing']],
  sseRelay: [sseRelay, {}, ['heartbeatMs', 'maxSilenceMs', 'maxEventBytes']],
  textGeneration: [
    textGeneration,
    text,
    [
      ...['prefix', 'identify', 'upstreams', 'timeoutMs', 'heartbeatMs', 'objectTtlMs', 'maxBodyBytes'],
      ...['maxResponseBytes', 'defaultMaxTokens'],
    ],
  ],
  'an upstream of textGeneration': [
    (upstream: { url: string }) => textGeneration({ ...text, upstreams: [upstream] }),
    { url: 'http://upstream.invalid/v1' },
    ['url'],
  ],
  videoGeneration: [
    videoGeneration,
    { store, identify, upstream: { url: 'http://upstream.invalid/api/v3', key: 'video-key' } },
    [
      'prefix',
      'identify',
      'store',
      'maxBodyBytes',
      'pollMs',
      'settleMs',
      'settleWaitMs',
      'createTimeoutMs',
      'maxPriority',
      'slots',
      'identifierSecret',
    ],
  ],
  'the upstream of videoGeneration': [
    (upstream: { url: string; key: string }) => videoGeneration({ store, identify, upstream }),
    { url: 'http://upstream.invalid/api/v3', key: 'video-key' },
    ['url', 'key'],
  ],
  createUpstream: [createUpstream, { kind }, ['kind', 'timeoutMs', 'maxResponseBytes']],
  'createUpstream with rate limits': [
    (options: object) => createUpstream({ kind, limits: { perSecond: {}, ...options } }),
    {},
    ['perSecond', 'queueMs'],
  ],
  upstreamProxy: [upstreamProxy, { kind }, ['kind', 'timeoutMs']],
  rest: [rest, { url: 'http://upstream.invalid', key: 'upstream-key' }, ['url', 'key']],
  ark: [ark, { url: 'http://upstream.invalid', ...credentials }, ['url', 'accessKey', 'secretKey']],
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
  issuer: [undefined, '', 'id.example', 'http://id.invalid', 'https://me:pw@id.invalid', 'https://id.invalid?a', 7],
  clientId: [undefined, '', 7],
  clientSecret: [undefined, '', 7],
  scopes: ['', 'profile', 'openid  email', 'openid,email', 7],
  beginSession: [undefined, null, 'begin'],
  returnTo: ['', 'console', '//evil.invalid', '/a b', 'https://evil.invalid/'],
  allowed: [{}, [], 'a', { groups: [] }, { groups: 'media' }, { groups: [null] }],
  admin: [{}, null, { groups: [{}] }],
  login: ['', 'login', '//host.example', 'javascript:alert(1)', 'https://me:key@host.example', 7, {}],
  signing: [[]],
  url: [undefined, '', 'nope', 'ftp://upstream.invalid', 'http://me:key@upstream.invalid', 'http://upstream.invalid?a'],
  perSecond: [{ GetAsset: 0 }, { GetAsset: -1 }, { GetAsset: Number.NaN }],
  queueMs: [-1, Number.NaN],
  fetch: [undefined, null, 'fetch'],
  confirmAbove: [-1, Number.NaN, '5'],
  maxWaitMs: [0, -1, Number.NaN],
  maxPriority: [-1, 10, 1.5, Number.NaN, '1'],
  slots: [{ '*': { running: -1 } }, { m: { running: 1.5 } }, { m: {} }, { m: 3 }],
  identifierSecret: ['', 'fifteen letters', 7],
  ...Object.fromEntries(
    ['store', 'upstream', 'kind', 'rules', 'metrics'].map((name) => [name, [undefined, null, 'x']]),
  ),
  ...Object.fromEntries(['key', 'accessKey', 'secretKey'].map((name) => [name, [undefined, '', 7]])),
  ...Object.fromEntries(
    [
      ...['maxTokens', 'maxSessions', 'maxOpen', 'idleMs', 'taskMs', 'leaseMs', 'heartbeatMs', 'maxSilenceMs'],
      ...[
        'timeoutMs',
        'objectTtlMs',
        'defaultMaxTokens',
        'maxEventBytes',
        'maxBodyBytes',
        'maxResponseBytes',
        'keepMs',
        'pollMs',
        'settleMs',
        'settleWaitMs',
        'createTimeoutMs',
        'everyMs',
        'maxStreams',
        'maxWebhooks',
        'maxLoginMs',
        ...limits,
      ],
    ].map((name) => [name, [0, -1, Number.NaN]]),
  ),
}

/** What messages call an option that they do not call by its name. */
const messages: Readonly<Record<string, string>> = { signing: 'secrets', perSecond: 'the rate limit of GetAsset' }

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
          const given = `${option}: ${JSON.stringify(value)}`
          expect(create, given).toThrow(TypeError)
          // Not an accident such as "undefined is not an object".
          expect(create, given).toThrow(new RegExp(`(?:^|[.: ])${messages[option] ?? option}\\b.* must `))
        }
      })
    }
  })
}
