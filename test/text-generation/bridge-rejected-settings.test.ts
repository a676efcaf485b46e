import { describe, expect, test } from 'bun:test'
import { chunk, openApp, streaming, type UpstreamRequest } from './fixture.ts'

const upstreams = [{ url: 'http://upstream.invalid/v1', chatOnly: true }]
const tools = [{ type: 'function', name: 'f', parameters: {} }]
const request = {
  model: 'm',
  input: 'hi',
  tools,
  parallel_tool_calls: true,
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  safety_identifier: 's',
  text: { verbosity: 'low' },
}

/** An upstream that knows only some fields, and names the first unknown one in an error. */
const strict =
  (status: number, errorOf: (field: string) => object) =>
  ({ json }: UpstreamRequest): Response => {
    const known = ['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'tools', 'tool_choice']
    const unknown = Object.keys(json).find((key) => !known.includes(key))
    if (unknown !== undefined) return Response.json(errorOf(unknown), { status })
    return streaming([chunk({ content: 'x' }), chunk({}, 'stop'), '[DONE]'])
  }

const rejections: readonly (readonly [string, number, (field: string) => object])[] = [
  ['OpenAI', 400, (name) => ({ error: { message: `Unrecognized request argument supplied: ${name}`, param: null } })],
  ['a model of OpenAI', 400, (name) => ({ error: { message: `Unsupported parameter: '${name}'.`, param: name } })],
  ['pydantic', 422, (name) => ({ detail: [{ loc: ['body', name], msg: 'Extra inputs are not permitted' }] })],
]

describe('a setting that the upstream does not know is left out', () => {
  for (const [server, status, errorOf] of rejections) {
    test(`as ${server} rejects it, and the next request omits it at once`, async () => {
      const app = openApp(strict(status, errorOf), { upstreams })
      for (const stream of [true, false]) {
        const response = await app.post('/responses', { ...request, stream })
        expect(response.status).toBe(200)
        expect(await response.text()).toContain('"x"')
      }
      expect(app.asked).toHaveLength(7)
      expect(Object.keys(app.asked[0]?.json)).toEqual(
        expect.arrayContaining(['verbosity', 'prompt_cache_key', 'prompt_cache_retention', 'parallel_tool_calls']),
      )
    })
  }

  test('unless the response would be another one', async () => {
    const [, status, errorOf] = rejections[0] as (typeof rejections)[0]
    for (const [field, more] of [
      ['reasoning_effort', { reasoning: { effort: 'low' } }],
      ['service_tier', { service_tier: 'flex' }],
    ] as const) {
      const app = openApp(strict(status, errorOf), { upstreams })
      const response = await app.post('/responses', { model: 'm', input: 'hi', ...more })
      expect([response.status, await response.json()]).toEqual([400, errorOf(field)])
      expect(app.asked).toHaveLength(1)
    }
  })

  test('but not of a chat completion, whose caller knows it', async () => {
    const [, status, errorOf] = rejections[0] as (typeof rejections)[0]
    const app = openApp(strict(status, errorOf), { upstreams })
    const messages = [{ role: 'user', content: 'hi' }]
    const response = await app.post('/chat/completions', { model: 'm', messages, verbosity: 'low' })
    expect([response.status, await response.json()]).toEqual([400, errorOf('verbosity')])
    expect(app.asked).toHaveLength(1)
  })
})
