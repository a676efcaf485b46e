import type { TextGenerationOptions } from '../../plugins/text-generation/index.ts'
import type { Store } from '../../src/store/index.ts'
import { chunk, dataOf, streaming, type UpstreamRequest } from './fixture.ts'
import { type Open, opener } from './stored-responses.ts'

export const chatOnly = [
  { url: 'http://upstream.invalid/v1', models: ['m', { id: 'n' }], chatOnly: true },
  { url: 'http://native.invalid/v1', models: ['native'] },
] as const

/** Responds with the number of the call, over chat completions; a native upstream with a stored response. */
export const answering = (asked: UpstreamRequest, id: string): Response =>
  asked.url.endsWith('/chat/completions')
    ? streaming([
        chunk({ role: 'assistant', content: 'answer ' }),
        chunk({ content: 'x' }),
        chunk({}, 'stop'),
        '[DONE]',
      ])
    : Response.json({ id, object: 'response', status: 'completed', output: [] })

/** Apps whose model `m` is on an upstream with chat completions only, with the responses kept in `store`. */
export const storedOpener =
  (store: Store) =>
  (respond = answering, options: Partial<TextGenerationOptions> = {}): Open =>
    opener(store)(respond, { upstreams: chatOnly, storedResponses: store, ...options })

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
export type Body = any

/** Creates a response, and returns it: the body, or the response of the final event of a stream. */
export const respond = async (app: Open, user: string, more: Readonly<Record<string, unknown>> = {}): Promise<Body> => {
  const response = await app.as(user, 'POST', '/responses', { model: 'm', input: 'x', ...more })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status} ${text}`)
  return more.stream ? JSON.parse(dataOf(text).at(-2) ?? '').response : JSON.parse(text)
}

export const bodyOf = async (response: Promise<Response>): Promise<[number, Body]> => [
  (await response).status,
  await (await response).json(),
]

/** The messages of the latest call of the upstream: role and text. */
export const lastMessages = (app: Open): readonly string[] =>
  app.asked.at(-1)?.json.messages.map(({ role, content }: Body) => `${role}: ${content}`)
