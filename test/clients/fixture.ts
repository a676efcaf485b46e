import { afterAll, beforeAll } from 'bun:test'
import OpenAI from 'openai'
import type { Call } from '../../src/emulator/index.ts'
import { startGateway, type TestGateway, type TestGatewayOptions, type User } from '../support/gateway.ts'

export type { TestGatewayOptions, User } from '../support/gateway.ts'
export { until } from '../support/until.ts'

/** The recorded usage of a user, over all models and days. */
export interface Recorded {
  readonly calls: number
  readonly unreported: number
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

export interface Fixture extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly emulator: TestGateway['emulator']
  readonly ann: User
  readonly bob: User
  /** Base URL of text generation, and ann's key: the only options of a client library. */
  readonly baseURL: string
  readonly apiKey: string
  /** Ann's client. Without retries by default. */
  readonly openai: OpenAI
  /** A client that calls the upstream directly. */
  readonly direct: OpenAI
  recorded(user?: User): Promise<Recorded>
  /** Upstream calls that generate text. */
  generatingCalls(): readonly Call[]
}

type Options = TestGatewayOptions & { readonly client?: Partial<ConstructorParameters<typeof OpenAI>[0]> }

/** Variants of an upstream, and the gateway's options for them. */
export const variants = [
  { name: 'native', text: () => ({}) },
  {
    name: 'chat only',
    text: (upstream: { url: string; key: string }) => ({ upstreams: [{ ...upstream, chatOnly: true }] }),
  },
  {
    name: 'without streams',
    text: (upstream: { url: string; key: string }) => ({ upstreams: [{ ...upstream, streams: false }] }),
  },
  {
    name: 'chat only without streams',
    text: (upstream: { url: string; key: string }) => ({
      upstreams: [{ ...upstream, chatOnly: true, streams: false }],
    }),
  },
] as const

export type Variant = (typeof variants)[number]

/** A gateway on a real socket with an emulated upstream, two users, and OpenAI's client of one of them. */
export const openFixture = async ({ client, ...options }: Options = {}): Promise<Fixture> => {
  const gateway = await startGateway(options)
  return { ...(await fixtureOn(gateway, client)), [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

/** Two new users of a gateway. */
const fixtureOn = async (
  gateway: TestGateway,
  client: Options['client'],
): Promise<Omit<Fixture, typeof Symbol.asyncDispose>> => {
  const { emulator, store } = gateway
  const nth = gateways.get(gateway) ?? 0
  gateways.set(gateway, nth + 1)
  const named = (name: string) => (nth === 0 ? name : `${name} ${nth}`)
  const ann = await gateway.addUser(named('ann'))
  const bob = await gateway.addUser(named('bob'))
  const baseURL = `${gateway.url}/v1`
  const firstCall = emulator.calls.length
  return {
    ...{ gateway, emulator, ann, bob, baseURL, apiKey: ann.token },
    openai: new OpenAI({ baseURL, apiKey: ann.token, maxRetries: 0, ...client }),
    direct: new OpenAI({ baseURL: emulator.text.url, apiKey: emulator.text.key, maxRetries: 0 }),
    async recorded(user = ann) {
      const rows = await store.listUsage({ user: user.id })
      const sum = (value: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + value(row), 0)
      return {
        calls: sum(({ calls }) => calls),
        unreported: sum(({ unreported }) => unreported),
        input: sum(({ inputTokens }) => inputTokens),
        cached: sum(({ cachedTokens }) => cachedTokens),
        output: sum(({ outputTokens }) => outputTokens),
        reasoning: sum(({ reasoningTokens }) => reasoningTokens),
      }
    },
    generatingCalls: () =>
      emulator.calls.slice(firstCall).filter(({ action }) => /^Create(?:ChatCompletion|Response)$/.test(action)),
  }
}

/** Number of fixtures of each gateway. */
const gateways = new WeakMap<TestGateway, number>()

/** The same with a variant of the upstream. */
export const openFixtureFor = async (variant: Variant, options: Options = {}): Promise<Fixture> => {
  const { startEmulator } = await import('../../src/emulator/index.ts')
  const given = options.emulator && 'faults' in options.emulator ? options.emulator : undefined
  const emulator = given ?? (await startEmulator({ processingMs: 0, ...options.emulator }))
  const fixture = await openFixture({ ...options, emulator, text: { ...variant.text(emulator.text), ...options.text } })
  return {
    ...fixture,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      if (!given) await emulator.stop()
    },
  }
}

/**
 * Fixtures for the tests of a suite: one gateway for all, with new users for each test. Disposing one removes the faults
 * of the upstream.
 */
export const fixturesFor = (variant: Variant): (() => Promise<Fixture>) => {
  let shared: Fixture | undefined
  beforeAll(async () => {
    shared = await openFixtureFor(variant)
  })
  afterAll(() => shared?.[Symbol.asyncDispose]())
  return async () => {
    if (!shared) throw new Error('the gateway is available in tests')
    const { gateway, emulator } = shared
    const clear = async () => emulator.faults.clear()
    return { ...(await fixtureOn(gateway, undefined)), [Symbol.asyncDispose]: clear }
  }
}

/** Tokens of a usage object of chat completions, with the names of the record. */
export const ofChat = (usage: OpenAI.CompletionUsage | null | undefined) => ({
  input: usage?.prompt_tokens,
  output: usage?.completion_tokens,
  reasoning: usage?.completion_tokens_details?.reasoning_tokens,
})

/** Tokens of a usage object of responses, with the names of the record. */
export const ofResponses = (usage: OpenAI.Responses.ResponseUsage | null | undefined) => ({
  input: usage?.input_tokens,
  output: usage?.output_tokens,
  reasoning: usage?.output_tokens_details?.reasoning_tokens,
})

/** All items of an asynchronous iterable. */
export const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

/** The error of a promise or function. Throws when there is none. */
export const thrown = async (doing: Promise<unknown> | (() => Promise<unknown>)): Promise<unknown> => {
  try {
    await (typeof doing === 'function' ? doing() : doing)
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** A value without ids and times, which differ between calls. */
export const withoutIdsAndTimes = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, member) => {
      if (key === 'created' || key === 'created_at' || key === 'completed_at') return 0
      if (typeof member !== 'string') return member
      return member.replace(/\b(chatcmpl-|call_|resp_|rs_|msg_|fc_|ctc_|ws_|req_)\w+/g, '$1')
    }),
  )

export const model = 'doubao-seed-emulated'

export const hello = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }]

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

/** Two tools, in the format of chat completions and of responses. */
export const chatTools: OpenAI.ChatCompletionTool[] = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: { name, description: `the ${name} of a city`, parameters },
}))

export const responsesTools: OpenAI.Responses.Tool[] = ['weather', 'time'].map((name) => ({
  type: 'function',
  name,
  description: `the ${name} of a city`,
  parameters,
  strict: true,
}))
