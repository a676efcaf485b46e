/** A host with all plugins, which exports its app. The types of its context come through the plugins' declarations. */
import { Elysia } from 'elysia'
import { assetLibrary, createAudit, createNodeServer, gateway, type NodeServer } from 'sluice'
import { type AccountStore, account } from 'sluice/account'
import { apiToken, consoleTokens, identifyByToken } from 'sluice/api-token'
import { concurrencyLimits } from 'sluice/concurrency-limits'
import { consolePages } from 'sluice/console'
import { documentedLimits, type FaultTiming, startEmulator } from 'sluice/emulator'
import { events } from 'sluice/events'
import { faceVerification } from 'sluice/face-verification'
import { createMetrics, metrics } from 'sluice/metrics'
import { createOwnership, ownership } from 'sluice/ownership'
import { type ListRules, paginationNormalizer } from 'sluice/pagination-normalizer'
import { Problem } from 'sluice/shared'
import { errorResponse, sseRelay } from 'sluice/sse-relay'
import { openStore } from 'sluice/store'
import { textGeneration } from 'sluice/text-generation'
import { createTracing } from 'sluice/tracing'
import { createUpstream, rest, upstreamProxy } from 'sluice/upstream-proxy'
import { webSession } from 'sluice/web-session'

declare const listRules: ListRules
declare const accountStore: AccountStore
declare const tracer: Parameters<typeof createTracing>[0]['tracer']

export const emulator = await startEmulator()
export const store = openStore('sqlite::memory:')
export const identify = identifyByToken({ store })
export const upstream = createUpstream({ kind: rest({ url: emulator.rest.url, key: emulator.rest.key }) })
export const rules = createOwnership({ store, locate: async (asset) => ({ group: asset, evidence: { at: 1 } }) })
export const secrets = ['s3cret']
export const library = assetLibrary({ kind: undefined, store, identify, secrets })
export const audit = createAudit({ store, keepMs: 1, addressOf: () => undefined })
export const limits = concurrencyLimits()
export const recorder = createMetrics()
export const publicUrl = 'http://localhost:3000'

export const app = new Elysia()
  .use(sseRelay({ heartbeatMs: 15_000, firstEvent: errorResponse }))
  .use(apiToken({ store }))
  .use(ownership({ rules, identify }))
  .use(paginationNormalizer({ secrets }))
  .use(upstreamProxy(upstream))
  .use(gateway({ kind: undefined, store, identify, secrets }))
  .use(textGeneration({ upstreams: [emulator.text], identify, assets: library.assets }))
  .use(webSession({ store, secrets, publicUrl }))
  .use(faceVerification({ upstream, store, identify, publicUrl }))
  .use(events({ store, identify }))
  .use(consolePages())
  .use(metrics({ metrics: recorder, token: 't0ken' }))
  .group('/api/tokens', (tokens) => tokens.use(consoleTokens({ store, identify, publicUrl })))
  .onError(({ error }) => (error instanceof Problem ? error.toResponse() : undefined))
  .get('/token', ({ identity }) => identity.user satisfies string, { token: true })
  .get('/session', ({ identity }) => identity.name satisfies string, { session: true })
  .get('/caller', ({ user }) => user satisfies string, { caller: true })
  .get('/groups/:id', ({ group, user }) => [group.id satisfies string, user satisfies string], { ownsGroup: 'id' })
  .get('/assets/:id', ({ asset }) => asset.evidence?.at satisfies number | undefined, { locatesAsset: 'id' })
  .delete('/assets/:id', ({ asset, owners }) => owners.moved(asset), { ownsAsset: 'id' })
  .get('/list', ({ listing }) => listing.page([{ id: 'a', key: 'a' }], 'ann').items[0]?.id, { lists: listRules })
  .get('/relay', ({ relay, request }) => relay((signal) => fetch(request.url, { signal })))
  .get('/send', async ({ upstream, caller }) => (await upstream.send({ action: 'GetAsset', id: 'a' }, caller)).status)
  // @ts-expect-error: only the macro adds `group`.
  .get('/no-macro', ({ group }) => group)
  // @ts-expect-error: the macro takes the name of a path parameter.
  .get('/wrong-parameter', () => '', { ownsGroup: 5 })

/** The account's store keeps the face verifications, unless they have a store of their own. */
export const people = new Elysia()
  .use(account({ store, secrets, publicUrl, face: { upstream } }))
  .use(account({ store, secrets, publicUrl, prefix: '/me', face: { upstream, store } }))
  .use(account({ store: accountStore, secrets, publicUrl, prefix: '/others' }))
  .use(account({ store: accountStore, secrets, publicUrl, prefix: '/more', face: { upstream, store } }))
  // @ts-expect-error: the store keeps no face verifications.
  .use(account({ store: accountStore, secrets, publicUrl, prefix: '/without', face: { upstream } }))

export const tracing = createTracing({ tracer })
export const { traceRequests, traceCall } = createTracing({ tracer })
export const traced = traceRequests(app.fetch)

export const server: NodeServer = createNodeServer(limits.limited(app.fetch))
// An Elysia app is a handler without an adapter.
export const other: NodeServer = createNodeServer(app, { timeouts: { headersMs: 5_000 } })

/** A test of the host, with the emulator as its upstream. */
export const withEmulator = async (): Promise<number> => {
  await using upstreams = await startEmulator({ limits: documentedLimits })
  const always: FaultTiming = { action: 'GetAsset', times: Number.POSITIVE_INFINITY }
  upstreams.faults.add({ kind: 'status', status: 503, ...always })
  // @ts-expect-error: there is no such kind.
  upstreams.faults.add({ kind: 'reset', ...always })
  // @ts-expect-error: there is no such action.
  upstreams.faults.add({ kind: 'empty', action: 'GetAssets' })
  return upstreams.maxCallsPerSecond('GetAsset')
}
