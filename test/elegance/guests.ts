import { apiToken, createToken, hashToken, type TokenStore } from 'sluice/api-token'
import { type Identify, ownership } from 'sluice/ownership'
import { type ListRules, paginationNormalizer } from 'sluice/pagination-normalizer'
import { createUpstream, rest, upstreamProxy } from 'sluice/upstream-proxy'
import { MemoryStore } from '../ownership/memory.ts'

/** Asks an app that listens nowhere; `user` stands for a credential. */
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

export const refusal = (status: number, message: string) =>
  [status, { success: false, error: { message, type: 'media_proxy_error' } }] as const

/** A header says who somebody is: the host app's own way. */
export const identify: Identify = (request) => {
  const user = request.headers.get('x-user')
  return user ? { user } : undefined
}

export const as = (user: string) => ({ headers: { 'x-user': user } })

/** Tokens of one user, and one of them. */
export const tokensOf = (user: string) => {
  const token = createToken()
  const store: TokenStore = {
    ownerOf: async (hash) => (hash === hashToken(token) ? { user, token: `of-${user}` } : undefined),
    revision: async () => 0,
  }
  return { plugin: () => apiToken({ store }), headers: { authorization: `Bearer ${token}` } }
}

/** Groups and assets of one user, who comes with any credential. */
export const possessionsOf = (user: string) => {
  const store = new MemoryStore()
  store.add({ id: `g-${user}`, user })
  store.places.set(`a-${user}`, `g-${user}`)
  return () => ownership({ store, identify })
}

export const list: ListRules = { endpoint: 'list', filters: { Name: { kind: 'text', max: 5 } }, sortBy: ['Time'] }

export const pagesSignedBy = (secret: string) => () => paginationNormalizer({ secrets: [secret] })

/** An upstream in memory that says its own name. */
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
