import { createOpenAI } from '@ai-sdk/openai'
import OpenAI from 'openai'
import type { Members } from './responses-assembly-streams.ts'

const answering = (body: string, type: string) =>
  (async () => new Response(body, { headers: { 'content-type': type } })) as unknown as typeof fetch

/** OpenAI's client with an upstream that sends this response. */
const official = (body: string, type = 'text/event-stream'): OpenAI =>
  new OpenAI({
    apiKey: 'k',
    baseURL: 'http://upstream.test/v1',
    maxRetries: 0,
    fetch: answering(body, type),
    logLevel: 'off',
  })

const request = { model: 'm-1', input: 'hello' }

/** The final response of the client's stream helper. */
export const finalOf = async (stream: string): Promise<Members> =>
  ({ ...(await official(stream).responses.stream(request).finalResponse()) }) as unknown as Members

/** The events that the client yields, and its error. */
export const rawOf = async (stream: string): Promise<{ events: readonly Members[]; thrown: unknown }> => {
  const events: Members[] = []
  try {
    for await (const event of await official(stream).responses.create({ ...request, stream: true })) {
      events.push(event as unknown as Members)
    }
    return { events, thrown: undefined }
  } catch (thrown) {
    return { events, thrown }
  }
}

/** A non-streaming response, as the client returns it. */
export const readByOfficial = async (response: string): Promise<Members> =>
  ({ ...(await official(response, 'application/json').responses.create(request)) }) as unknown as Members

/** Whether the AI SDK, which validates every member that it reads, accepts a non-streaming response. Throws its error otherwise. */
export const readByAiSdk = async (response: string): Promise<void> => {
  const provider = createOpenAI({
    apiKey: 'k',
    baseURL: 'http://upstream.test/v1',
    fetch: answering(response, 'application/json'),
  })
  await provider.responses('m-1').doGenerate({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] })
}
