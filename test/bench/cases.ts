import type { LoadRequest } from './load.ts'

export type Front = 'on' | 'off'

/** A request that every target receives, and the gateway's goals for it. */
export interface Case {
  readonly name: string
  readonly title: string
  readonly request: LoadRequest
  readonly status: number
  /** A part of every correct response. */
  readonly contains: string
  /** The request for relays, where they cannot do the gateway's work: a gateway error is compared with a relayed response. */
  readonly relayed?: Pick<Case, 'request' | 'status' | 'contains'>
  /** Number of events of a stream. CPU time is reported per event. */
  readonly events?: number
  readonly goal?: Goal
}

/** Upper bounds for the gateway. */
export interface Goal {
  /** CPU time, as a multiple of the bare relay's. */
  readonly cpu: Readonly<Record<Front, number>>
  /** Median milliseconds above the bare relay, to the end of the response or to its first byte. */
  readonly added?: Readonly<Record<Front, number>> & { readonly to: 'whole' | 'first' }
}

/** The placeholder for the token of the target. */
const bearer = { authorization: 'Bearer {token}' }
const json = { ...bearer, 'content-type': 'application/json' }
const library = '/api/media/proxy'
const assets = 5_000

const get = (path: string, distinct = 1): LoadRequest => ({
  method: 'GET',
  path: library + path,
  headers: bearer,
  distinct,
})

export const detail = {
  request: get('/assets/asset-{n}', assets),
  status: 200,
  contains: '"GroupId":"group-0"',
} as const

export const chat = (model: string, stream: boolean): LoadRequest => ({
  method: 'POST',
  path: '/v1/chat/completions',
  headers: json,
  body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hello world '.repeat(20) }] }),
  distinct: 1,
})

const refused = (token: string, distinct: number): LoadRequest => ({
  ...detail.request,
  headers: { authorization: `Bearer sk-${token}` },
  distinct,
})

const listGoal: Goal = { cpu: { on: 1.8, off: 1.6 } }
const chatGoal: Goal = { cpu: { on: 1.6, off: 1.2 }, added: { on: 0.3, off: 0.2, to: 'whole' } }
const streamGoal: Goal = { cpu: { on: 1.4, off: 1.15 }, added: { on: 0.3, off: 0.2, to: 'first' } }
/** These ratios mean 1.5 and 2.3 times the relay's request rate. */
const refusalGoal: Goal = { cpu: { on: 0.67, off: 0.43 } }

export const cases: readonly Case[] = [
  { name: 'detail', title: 'asset detail, distinct known ids', ...detail, goal: { cpu: { on: 1.8, off: 1.3 } } },
  { name: 'detail-one', title: 'asset detail, one id', ...detail, request: get('/assets/asset-1') },
  {
    name: 'create',
    title: 'asset create',
    request: {
      method: 'POST',
      path: `${library}/assets`,
      headers: json,
      body: JSON.stringify({ GroupId: 'group-0', Name: 'one', AssetType: 'Image', URL: 'https://e.example/one.png' }),
      distinct: 1,
    },
    status: 200,
    contains: '"Id":"asset-new-',
  },
  {
    name: 'groups',
    title: 'group list, 10 of 10',
    request: get('/assets/groups?PageSize=10'),
    status: 200,
    contains: '"Id":"group-9"',
    goal: listGoal,
  },
  {
    name: 'assets',
    title: 'asset list, 10 of 10, one call',
    request: get('/assets?PageSize=10'),
    status: 200,
    contains: '"Id":"asset-9"',
    goal: listGoal,
  },
  {
    name: '401',
    title: '401, 1,000 unknown tokens, against detail',
    request: refused('unknown{n}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 1_000),
    status: 401,
    contains: 'error',
    relayed: detail,
    goal: refusalGoal,
  },
  {
    name: '401-new',
    title: '401, a new token for each request, against detail',
    request: refused('{nonce}{n}xxxxxxxxxxxxxxx', 50_000),
    status: 401,
    contains: 'error',
    relayed: detail,
  },
  {
    name: '403',
    title: '403, foreign assets, against detail',
    request: get('/assets/foreign-{n}', assets),
    status: 403,
    contains: 'asset not found in your asset group',
    relayed: detail,
  },
  {
    name: 'chat',
    title: 'chat, non-streaming',
    request: chat('plain', false),
    status: 200,
    contains: '"completion_tokens":20',
    goal: chatGoal,
  },
  {
    name: 'chat-22',
    title: 'chat, assembled from 22 events',
    request: chat('events-22-0', false),
    status: 200,
    contains: '"completion_tokens":20',
    goal: chatGoal,
  },
  {
    name: 'stream-22',
    title: 'a stream of 22 events, by the event',
    request: chat('events-22-2', true),
    status: 200,
    contains: 'data: [DONE]',
    events: 22,
    goal: streamGoal,
  },
  {
    name: 'stream-2000',
    title: 'a stream of 2,000 events, by the event',
    request: chat('events-2000-2', true),
    status: 200,
    contains: 'data: [DONE]',
    events: 2_000,
    goal: { cpu: streamGoal.cpu },
  },
]
