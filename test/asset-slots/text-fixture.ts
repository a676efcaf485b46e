import type { Identity } from '../../plugins/text-generation/index.ts'
import type { Emulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { until } from '../support/until.ts'
import { openApp, streaming, type UpstreamRequest } from '../text-generation/fixture.ts'
import { openProcess, type SlotProcess, type SlotProcessOptions } from './fixture.ts'

/** A call of the text upstream, which a test answers. */
export interface TextCall extends UpstreamRequest {
  /** Ids of the assets in it. */
  readonly assets: readonly string[]
  answer(response: Response | Error): void
}

/** A process with a library that is larger than its slots, and with text generation. */
export interface TextProcess extends SlotProcess {
  readonly calls: readonly TextCall[]
  /** Sends a chat request that names assets. */
  chat(user: string, assets: readonly string[], more?: ChatOptions): Promise<Response>
  /** Sends any request. */
  send(user: string, path: string, body: object, init?: SendOptions): Promise<Response>
  get(user: string, path: string): Promise<Response>
  /** Ids of new assets of a user, which all have been active once. */
  added(user: string, group: string, count: number): Promise<readonly string[]>
}

interface SendOptions {
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

interface ChatOptions extends SendOptions {
  readonly stream?: boolean
}

export interface TextProcessOptions extends SlotProcessOptions {
  /** Of the credentials of ann. */
  readonly whenRevoked?: Identity['whenRevoked']
  readonly bridged?: boolean
}

export const chatOf = (assets: readonly string[], stream = true) => ({
  ...{ model: 'm', stream },
  messages: [
    { role: 'user', content: assets.map((id) => ({ type: 'image_url', image_url: { url: `asset://${id}` } })) },
  ],
})

/** The input of a response about an asset. */
export const inputOf = (asset: string) => [
  { role: 'user', content: [{ type: 'input_image', image_url: `asset://${asset}` }] },
]

export const openTextProcess = (
  store: Store,
  emulator: Emulator,
  { whenRevoked, bridged = false, ...options }: TextProcessOptions = {},
): TextProcess => {
  const process = openProcess(store, emulator, options)
  const calls: TextCall[] = []
  const app = openApp(
    (asked) =>
      new Promise((resolve, reject) => {
        const assets = [...asked.text.matchAll(/asset:\/\/([\w-]+)/g)].map(([, id = '']) => id)
        const answer = (response: Response | Error) =>
          response instanceof Response ? resolve(response) : reject(response)
        asked.signal.addEventListener('abort', () => reject(asked.signal.reason))
        calls.push({ ...asked, assets, answer })
      }),
    {
      upstreams: [{ url: 'http://upstream.invalid/v1', key: 'the-upstream-key', ...(bridged && { chatOnly: true }) }],
      identify: ({ headers }) => {
        const user = headers.get('x-user') ?? ''
        return { user, ...(user === 'ann' && whenRevoked && { whenRevoked }) }
      },
      ...{ assets: process.texts, clock: process.clock, objects: store, storedResponses: store },
    },
  )
  const send: TextProcess['send'] = (user, path, body, init = {}) =>
    app.post(path, body, { ...init, headers: { 'x-user': user, ...init.headers } })
  return {
    ...{ ...process, calls, send },
    get: (user, path) => app.ask(path, { headers: { 'x-user': user } }),
    chat: (user, assets, { stream = true, ...init } = {}) =>
      send(user, '/chat/completions', chatOf(assets, stream), init),
    async added(user, group, count) {
      const ids: string[] = []
      for (let at = 0; at < count; at++) {
        ids.push(await process.asset(user, group, `a${at}`))
        await process.ask(user, 'GET', `/assets/${ids.at(-1)}`)
        await process.clock.pass(1_000)
      }
      return ids
    },
  }
}

/** Ids of two new assets of ann, in a group of their own. */
export const twoAssets = async (process: TextProcess, group: string): Promise<readonly [string, string]> => {
  const [first = '', second = ''] = await process.added('ann', await process.group('ann', group), 2)
  return [first, second]
}

/** The call with this number, from 1, as soon as the upstream has it. Requests that wait look again meanwhile. */
export const callNumber = async (
  { calls, clock }: Pick<TextProcess, 'calls' | 'clock'>,
  number: number,
): Promise<TextCall> => {
  await until(async () => {
    if (calls.length < number) await clock.pass(100)
    return calls.length >= number
  })
  return calls[number - 1] as TextCall
}

/** A stream that stays open until it is ended. */
export const openStream = () => {
  const { promise: ended, resolve: end, reject: breakOff } = Promise.withResolvers<void>()
  // Nobody waits for it if the stream was cancelled.
  ended.catch(() => {})
  let isFirst = true
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isFirst) {
          isFirst = false
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunkOf({ content: 'x' }))}\n\n`))
          return
        }
        await ended
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunkOf({}, 'stop'))}\n\ndata: [DONE]\n\n`))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  return { response, end: () => end(), breakOff: () => breakOff(new Error('ECONNRESET')) }
}

const chunkOf = (delta: object, finish: string | null = null) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' },
  choices: [{ index: 0, delta, finish_reason: finish }],
})

/** A complete answer. */
export const completeStream = (): Response =>
  streaming([chunkOf({ role: 'assistant', content: 'x' }), chunkOf({}, 'stop'), '[DONE]'])
