import { describe, expect, test } from 'bun:test'
import type { UpstreamRequest } from './fixture.ts'
import { hello, minimal, openMessages } from './messages-fixture.ts'

const request = { ...minimal, max_tokens: 32_000, output_config: { effort: 'high' } }

const errorOf = (message: string) =>
  Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 400 })

/** A model that has no reasoning, and generates 16,384 tokens at most. */
const small = ({ json }: UpstreamRequest): Response => {
  if ('reasoning_effort' in json) return errorOf('Unrecognized request argument supplied: reasoning_effort')
  if (json.max_tokens > 16_384)
    return errorOf('max_tokens is too large: 32000. This model supports at most 16384 completion tokens')
  return hello()
}

describe('What clients of Claude’s models send, and other models do not have:', () => {
  test('the effort and a too large maximum are left out, and the next request omits them at once', async () => {
    const app = openMessages(small)
    for (const expected of [3, 4]) {
      expect((await app.post('/messages', request)).status).toBe(200)
      expect(app.asked).toHaveLength(expected)
    }
    expect(app.asked[3]?.json).not.toContainAnyKeys(['max_tokens', 'reasoning_effort'])
  })

  test('a small maximum is the caller’s own, so the caller gets the error', async () => {
    const app = openMessages(() => errorOf('max_tokens must be at least 16'))
    const response = await app.post('/messages', { ...minimal, max_tokens: 8 })
    expect(await response.json()).toMatchObject({ error: { message: 'max_tokens must be at least 16' } })
    expect(app.asked).toHaveLength(1)
  })

  test('the maximum gets the name and the size that the operator has configured', async () => {
    const app = openMessages(hello, {
      upstreams: [{ url: 'http://u.invalid/v1', maxTokens: 8_192, maxTokensField: 'max_completion_tokens' }],
    })
    await app.post('/messages', request)
    expect(app.asked[0]?.json).toMatchObject({ max_completion_tokens: 8_192 })
    expect(app.asked[0]?.json).not.toHaveProperty('max_tokens')
  })

  test('a model of Claude can be the alias of another one', async () => {
    const models = [{ id: 'big', alias: 'claude-sonnet-5' }]
    const app = openMessages(hello, { upstreams: [{ url: 'http://u.invalid/v1', models }] })
    await app.post('/messages', { ...minimal, model: 'claude-sonnet-5' })
    expect(app.asked[0]?.json.model).toBe('big')
    expect(app.usage).toMatchObject([{ model: 'claude-sonnet-5' }])
  })
})
