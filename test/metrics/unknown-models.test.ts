import { expect, test } from 'bun:test'
import { createMetrics } from '../../plugins/metrics/index.ts'
import { openApp, type UpstreamRequest } from '../text-generation/fixture.ts'

const response = {
  ...{ id: 'chat-1', object: 'chat.completion', created: 1, model: 'real' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2 },
}

/** An upstream with one model that never responds to calls for another. */
const upstream = ({ json, signal }: UpstreamRequest): Response | Promise<Response> =>
  json.model === 'real'
    ? Response.json(response)
    : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('aborted calls with invented model names create no labels, so that existing models keep theirs', async () => {
  const metrics = createMetrics()
  const app = openApp(upstream, { observeUsage: metrics.text })
  const messages = [{ role: 'user', content: 'hi' }]
  for (const stream of [false, true]) {
    for (let nth = 0; nth < 150; nth++) {
      const caller = new AbortController()
      const model = `invented-${stream}-${nth}`
      const asking = app.post('/chat/completions', { model, messages, stream }, { signal: caller.signal })
      while (app.asked.at(-1)?.json.model !== model) await nextTurn()
      caller.abort()
      await Promise.resolve(asking).catch(() => {})
    }
  }
  expect((await app.post('/chat/completions', { model: 'real', messages })).status).toBe(200)
  while (app.usage.length < 301) await nextTurn()
  const said = (await metrics.registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('sluice_text_calls_total'))
  expect(said).toEqual([
    'sluice_text_calls_total{model="other",reported="false"} 300',
    'sluice_text_calls_total{model="real",reported="true"} 1',
  ])
})

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
