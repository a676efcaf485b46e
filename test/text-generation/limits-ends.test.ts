import { describe, expect, test } from 'bun:test'
import type { TextGenerationOptions } from '../../plugins/text-generation/index.ts'
import { chunk, openApp, streaming, streamingText, type UpstreamRequest, usageChunk } from './fixture.ts'
import { memoryLimits } from './limits-fixture.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const requests = [
  ['/chat/completions', { model: 'm', messages }],
  ['/completions', { model: 'm', prompt: 'Hi' }],
  ['/responses', { model: 'm', input: 'Hi' }],
  ['/messages', { model: 'm', messages, max_tokens: 90 }],
  ['/embeddings', { model: 'm', input: 'Hi' }],
] as const
const answer = [chunk({ role: 'assistant' }), chunk({ content: 'Hi' }), chunk({}, 'stop'), usageChunk, '[DONE]']

interface End {
  readonly respond?: (asked: UpstreamRequest, client: AbortController) => Response | Promise<Response>
  readonly headers?: Record<string, string>
  readonly options?: Partial<TextGenerationOptions>
  readonly body?: object
  /** The client leaves before the gateway has read its request. */
  readonly leaves?: boolean
}

const untilAborted = ({ signal }: UpstreamRequest) =>
  new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

/** All ways in which a call can end early. */
const ends: Readonly<Record<string, End>> = {
  'a timeout of the client that has passed': { headers: { 'x-stainless-timeout': '0.001' } },
  'a timeout of the client that has passed at once': { headers: { 'x-stainless-timeout': '1e-9' } },
  'a timeout of a read that has passed at once': { headers: { 'x-stainless-read-timeout': '1e-9' } },
  // A client that gets no partial response leaves at its timeout.
  'a timeout while the upstream is silent': {
    headers: { 'x-stainless-timeout': '0.02' },
    respond: (asked, client) => {
      setTimeout(() => client.abort(new Error('left')), 40)
      return untilAborted(asked)
    },
  },
  'a timeout inside the stream': {
    headers: { 'x-stainless-timeout': '0.02' },
    respond: ({ signal }, client) => {
      setTimeout(() => client.abort(new Error('left')), 40)
      return streaming(answer.slice(0, 2), 'stall', signal)
    },
  },
  'a client that has left': { leaves: true },
  'a client that leaves before the first byte': {
    respond: (asked, client) => {
      setTimeout(() => client.abort(new Error('left')))
      return untilAborted(asked)
    },
  },
  'a client that leaves inside the stream': {
    respond: ({ signal }, client) => {
      setTimeout(() => client.abort(new Error('left')), 5)
      return streaming(answer.slice(0, 2), 'stall', signal)
    },
  },
  'a refusal': { respond: () => Response.json({ error: { message: 'no' } }, { status: 400 }) },
  'a failure': { respond: () => Response.json({ error: { message: 'no' } }, { status: 500 }) },
  'an upstream that cannot be reached': { respond: () => Promise.reject(new Error('ECONNREFUSED')) },
  'an upstream that is busy, and no other one': {
    respond: () => new Response('', { status: 503, headers: { 'retry-after': '1' } }),
    options: { upstreams: [{ url: 'http://upstream.invalid/v1' }, { url: 'http://other.invalid/v1' }] },
  },
  'a page instead of a response': {
    respond: () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
  },
  'JSON of another protocol': { respond: () => Response.json([]) },
  'JSON that is broken': {
    respond: () => new Response('{', { headers: { 'content-type': 'application/json' } }),
  },
  'a stream without an event': { respond: () => streamingText('') },
  'a stream that begins with an error': { respond: () => streaming([{ error: { message: 'no' } }]) },
  'a stream that breaks at once': { respond: () => streamingText('', 'reset') },
  'a stream that breaks': { respond: () => streaming(answer.slice(0, 2), 'reset') },
  'a response with the key of the upstream': {
    respond: () => streaming([chunk({ content: 'the-upstream-key' }), chunk({}, 'stop'), '[DONE]']),
  },
  'a credential that is revoked': {
    respond: untilAborted,
    options: {
      identify: () => ({
        ...{ user: 'ann', token: 't1' },
        whenRevoked: (revoke: () => void) => {
          const timer = setTimeout(revoke, 5)
          return () => clearTimeout(timer)
        },
      }),
    },
  },
}

for (const [name, { respond, headers, options, leaves = false }] of Object.entries(ends)) {
  describe(`after ${name}`, () => {
    for (const [path, request] of requests) {
      for (const stream of path === '/embeddings' ? [false] : [false, true]) {
        test(`nothing stays reserved by ${path}${stream ? ' with a stream' : ''}`, async () => {
          const limits = memoryLimits({ tokens: 100_000, requests: 10, streams: 5 })
          const client = new AbortController()
          const app = openApp((asked) => respond?.(asked, client) ?? streaming(answer), { limits, ...options })
          if (leaves) client.abort(new Error('left'))
          const init = { ...(headers && { headers }), signal: client.signal }
          const calling = app.post(path, { ...request, ...(stream && { stream }) }, init).then((sent) => sent.text())
          await calling.catch(() => {})
          expect(Object.values(limits.held).filter((amount) => amount !== 0)).toEqual([])
          expect(limits.reserved()).toBe(0)
        })
      }
    }
  })
}
