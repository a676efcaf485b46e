import { expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { hello, model, openFixture, thrown } from './fixture.ts'

test('heartbeat comments do not affect clients, and an error after them is raised', async () => {
  await using fixture = await openFixture({ text: { heartbeatMs: 20 } })
  const { emulator, openai, gateway, apiKey } = fixture
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 })
  const asked = [{ role: 'user' as const, content: 'hi' }]
  for (const events of [0, 5]) {
    emulator.faults.add({ kind: 'silence', events, ms: 120, times: 2 })
    const chat = await openai.chat.completions.stream({ model, messages: hello('hi') }).finalChatCompletion()
    expect(chat.choices[0]?.finish_reason).toBe('stop')
    expect((await openai.responses.stream({ model, input: 'hi' }).finalResponse()).status).toBe('completed')
    emulator.faults.add({ kind: 'silence', events, ms: 120 })
    const message = await anthropic.messages.stream({ model, max_tokens: 500, messages: asked }).finalMessage()
    expect(message.stop_reason).toBe('end_turn')
  }
  emulator.faults.add({ kind: 'silence', events: 0, ms: 120 })
  emulator.faults.add({ kind: 'error-event' })
  const caught = await thrown(openai.chat.completions.stream({ model, messages: hello('hi') }).finalChatCompletion())
  expect(caught).toBeInstanceOf(OpenAI.APIError)
  emulator.faults.add({ kind: 'delay', ms: 120 })
  emulator.faults.add({ kind: 'status', status: 429 })
  const limited = await thrown(openai.chat.completions.stream({ model, messages: hello('hi') }).finalChatCompletion())
  expect(limited).toBeInstanceOf(OpenAI.RateLimitError)
})
