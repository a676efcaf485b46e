import Anthropic from '@anthropic-ai/sdk'
import type { TextGenerationOptions } from '../../plugins/text-generation/index.ts'
import { chunk, openApp, streaming, type TextApp, type UpstreamRequest, usageChunk } from './fixture.ts'

export interface MessagesApp extends TextApp {
  /** Anthropic's client, which calls the plugin without a socket. */
  readonly client: Anthropic
  /** Sends a request with defaults for the required fields, and returns the chat request that went upstream. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read requests of every shape
  sent(request: object): Promise<any>
  /** Sends a request that is rejected. Returns the status and the message of the error. */
  rejected(request: object): Promise<{ readonly status: number; readonly message: string; readonly type: string }>
}

export const minimal = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] }

/** A chat stream that says hello. */
export const hello = (): Response =>
  streaming([chunk({ role: 'assistant', content: 'Hello' }, 'stop'), usageChunk, '[DONE]'])

export const openMessages = (
  respond: (asked: UpstreamRequest) => Response | Promise<Response> = hello,
  options: Partial<TextGenerationOptions> = {},
): MessagesApp => {
  const app = openApp(respond, options)
  const client = new Anthropic({
    baseURL: 'http://localhost',
    authToken: 'x',
    apiKey: null,
    maxRetries: 0,
    fetch: (input, init) => {
      const { pathname, search } = new URL(String(input))
      return app.ask(pathname.replace(/^\/v1/, '') + search, init as RequestInit)
    },
  })
  return {
    ...app,
    client,
    async sent(request) {
      const response = await app.post('/messages', { ...minimal, ...request })
      if (!response.ok) throw new Error(await response.text())
      return app.asked.at(-1)?.json
    },
    async rejected(request) {
      const before = app.asked.length
      const response = await app.post('/messages', { ...minimal, ...request })
      const { type, error } = (await response.json()) as Anthropic.ErrorResponse
      if (type !== 'error' || app.asked.length !== before) throw new Error('it was not rejected')
      return { status: response.status, message: error.message, type: error.type }
    },
  }
}
