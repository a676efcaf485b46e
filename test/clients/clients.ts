import OpenAI from 'openai'
import type { Call } from '../../src/emulator/index.ts'
import { startGateway, type TestGateway, type TestGatewayOptions, type User } from '../support/gateway.ts'

export type { TestGatewayOptions, User } from '../support/gateway.ts'

/** What the gateway wrote down for a user, over all models and days. */
export interface Recorded {
  readonly calls: number
  readonly unreported: number
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

export interface Clients extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly emulator: TestGateway['emulator']
  readonly ann: User
  readonly bob: User
  /** Base address of text generation, and ann's key: all that a client library is told. */
  readonly baseURL: string
  readonly apiKey: string
  /** Ann's client, without retries unless told otherwise. */
  readonly openai: OpenAI
  /** The same client on the upstream itself. */
  readonly direct: OpenAI
  recorded(user?: User): Promise<Recorded>
  /** Calls that reached the upstream and generate. */
  asked(): readonly Call[]
}

type Options = TestGatewayOptions & { readonly client?: Partial<ConstructorParameters<typeof OpenAI>[0]> }

/** Ways that a gateway and its upstream can be put together. */
export const ways = [
  { way: 'native', text: () => ({}) },
  {
    way: 'chat only',
    text: (upstream: { url: string; key: string }) => ({ upstreams: [{ ...upstream, chatOnly: true }] }),
  },
  {
    way: 'without streams',
    text: (upstream: { url: string; key: string }) => ({ upstreams: [{ ...upstream, streams: false }] }),
  },
  {
    way: 'chat only without streams',
    text: (upstream: { url: string; key: string }) => ({
      upstreams: [{ ...upstream, chatOnly: true, streams: false }],
    }),
  },
] as const

export type Way = (typeof ways)[number]

/** A gateway on a real socket before an emulated upstream, two users, and the official client of one of them. */
export const openClients = async ({ client, ...options }: Options = {}): Promise<Clients> => {
  const gateway = await startGateway(options)
  const { emulator, store } = gateway
  const ann = await gateway.addUser('ann')
  const bob = await gateway.addUser('bob')
  const baseURL = `${gateway.url}/v1`
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
    asked: () => emulator.calls.filter(({ action }) => /^Create(?:ChatCompletion|Response)$/.test(action)),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

/** The same, put together in one of the ways. */
export const openWay = async (way: Way, options: Options = {}): Promise<Clients> => {
  const { startEmulator } = await import('../../src/emulator/index.ts')
  const given = options.emulator && 'faults' in options.emulator ? options.emulator : undefined
  const emulator = given ?? (await startEmulator({ limits: {}, processingMs: 0, ...options.emulator }))
  const clients = await openClients({ ...options, emulator, text: { ...way.text(emulator.text), ...options.text } })
  return {
    ...clients,
    async [Symbol.asyncDispose]() {
      await clients[Symbol.asyncDispose]()
      if (!given) await emulator.stop()
    },
  }
}

/** Tokens in a usage object of chat completions, in the names of the record. */
export const ofChat = (usage: OpenAI.CompletionUsage | null | undefined) => ({
  input: usage?.prompt_tokens,
  output: usage?.completion_tokens,
  reasoning: usage?.completion_tokens_details?.reasoning_tokens,
})

/** The same of responses. */
export const ofResponses = (usage: OpenAI.Responses.ResponseUsage | null | undefined) => ({
  input: usage?.input_tokens,
  output: usage?.output_tokens,
  reasoning: usage?.output_tokens_details?.reasoning_tokens,
})

/** Everything that an asynchronous iteration brings. */
export const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

/** What something throws; fails when it does not. */
export const thrown = async (doing: Promise<unknown> | (() => Promise<unknown>)): Promise<unknown> => {
  try {
    await (typeof doing === 'function' ? doing() : doing)
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** Comes true before the test's patience ends. */
export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** A value without what differs from call to call: ids and times. */
export const timeless = (value: unknown): unknown =>
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

/** Two tools, in the form of chat completions and of responses. */
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
