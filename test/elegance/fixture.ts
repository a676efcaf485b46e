import { apiToken, createToken, hashToken, type TokenStore } from 'sluice/api-token'
import { type Identify, ownership } from 'sluice/ownership'
import { type ListRules, paginationNormalizer } from 'sluice/pagination-normalizer'
import { openStore } from 'sluice/store'
import { textGeneration } from 'sluice/text-generation'
import { createUpstream, rest, upstreamProxy } from 'sluice/upstream-proxy'
import { createVideoService, openaiVideos, videoGeneration } from 'sluice/video-generation'
import { MemoryStore } from '../ownership/memory.ts'

/** Sends a request to an app without a socket. */
export const ask = async (
  app: { handle(request: Request): Promise<Response> },
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<readonly [number, unknown]> => {
  const response = await app.handle(new Request(`http://localhost${path}`, { method, headers }))
  const text = await response.text()
  try {
    return [response.status, JSON.parse(text)]
  } catch {
    return [response.status, text]
  }
}

export const errorBody = (status: number, message: string) =>
  [status, { success: false, error: { message, type: 'request_error' } }] as const

/** The host app's own authentication: a header names the user. */
export const identify: Identify = (request) => {
  const user = request.headers.get('x-user')
  return user ? { user } : undefined
}

export const as = (user: string) => ({ headers: { 'x-user': user } })

/** An `apiToken` plugin that knows one user, and the headers with his token. */
export const tokensOf = (user: string) => {
  const token = createToken()
  const store: TokenStore = {
    ownerOf: async (hash) => (hash === hashToken(token) ? { user, token: `of-${user}` } : undefined),
    revision: async () => 0,
  }
  return { plugin: () => apiToken({ store }), headers: { authorization: `Bearer ${token}` } }
}

/** An `ownership` plugin whose store has one group and one asset of the user. */
export const ownershipOf = (user: string) => {
  const store = new MemoryStore()
  store.add({ id: `g-${user}`, user })
  store.assetGroups.set(`a-${user}`, `g-${user}`)
  return () => ownership({ store, identify })
}

export const list: ListRules = { endpoint: 'list', filters: { Name: { kind: 'text', max: 5 } }, sortBy: ['Time'] }

export const pagesSignedBy = (secret: string) => () =>
  paginationNormalizer({ secrets: [`${secret}, a secret of the tests`] })

/** An `upstreamProxy` plugin whose upstream responds with its name. */
export const upstreamNamed = (name: string) => () =>
  upstreamProxy(
    createUpstream({
      kind: rest({ url: `http://${name}.invalid`, key: `key-of-${name}` }),
      fetch: async (url) =>
        url.endsWith('/gone')
          ? new Response(`{"from":"${name}"}`, { status: 404, headers: { 'content-type': 'application/json' } })
          : Response.json({ Result: { from: name } }),
    }),
  )

/** `textGeneration` with an upstream that responds with its name. */
export const textNamed = (name: string) =>
  textGeneration({
    upstreams: [{ url: `http://${name}.invalid/v1` }],
    identify,
    fetch: async () => Response.json({ id: name, object: 'model' }),
  })

/** `videoGeneration` without an upstream, with an error that has a name. */
export const videosNamed = (name: string) => {
  const store = openStore('sqlite::memory:')
  return videoGeneration({ store, identify, errors: ({ message }) => ({ [name]: message }) })
}

/** The same for `openaiVideos`. */
export const openaiVideosNamed = (name: string) => {
  const service = createVideoService({ store: openStore('sqlite::memory:') })
  return openaiVideos({ service, identify, errors: ({ message }) => ({ [name]: message }) })
}

/** An upstream whose response is an event stream with its name. */
export const streamNamed = (name: string) => () =>
  Promise.resolve(new Response(`data: ${name}\n\n`, { headers: { 'content-type': 'text/event-stream' } }))
