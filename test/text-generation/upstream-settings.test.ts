import { describe, expect, test } from 'bun:test'
import type { TextUpstream } from '../../plugins/text-generation/index.ts'
import { chunk, dataOf, openApp, streaming } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const done = [chunk({ role: 'assistant', content: 'x' }), chunk({}, 'stop'), '[DONE]']

const open = (upstream: Partial<TextUpstream>) =>
  openApp(() => streaming(done), { upstreams: [{ url: 'http://one.invalid/api/v3', ...upstream }] })

describe('an alias', () => {
  const models = ['plain', { id: 'vendor/model-2026', alias: 'm' }]

  test('is the name for callers; the upstream gets its own', async () => {
    const app = open({ models })
    const body = '{ "messages":[{"role":"user","content":"hi"}], "seed":12345678901234567890, "model" : "m" }'
    await app.post('/chat/completions', body)
    await app.post('/responses', { model: 'm', input: 'hi' })
    await app.post('/chat/completions', { model: 'plain', messages })
    expect(app.asked.map(({ json }) => json.model)).toEqual(['vendor/model-2026', 'vendor/model-2026', 'plain'])
    expect(app.asked[0]?.text).toStartWith(
      '{ "messages":[{"role":"user","content":"hi"}], "seed":12345678901234567890, "model" : "vendor/model-2026" ',
    )
    expect(app.asked[0]?.url).toBe('http://one.invalid/api/v3/chat/completions')
  })

  test('is the model that the bridge names, in responses and errors', async () => {
    const app = open({ models, chatOnly: true })
    const { model } = (await (await app.post('/responses', { model: 'm', input: 'hi' })).json()) as { model: string }
    expect([model, app.asked[0]?.json.model]).toEqual(['m', 'vendor/model-2026'])
    const error = await (await app.post('/responses', { model: 'm', input: 'hi', conversation: 'conv_1' })).text()
    expect(error).toContain('model m')
  })

  test('is the model in the usage', async () => {
    const app = open({ models })
    await (await app.post('/chat/completions', { model: 'm', messages })).text()
    expect(app.usage.map(({ model }) => model)).toEqual(['m'])
  })
})

describe("the upstream's own name of a model with an alias", () => {
  const general = { url: 'http://two.invalid/v1' }
  const openTwo = (second: object) =>
    openApp(() => streaming(done), {
      upstreams: [{ url: 'http://one.invalid/v1', models: [{ id: 'vendor/y', alias: 'y' }] }, second as TextUpstream],
      prices: { y: { output: 1 } },
    })

  test('is unknown: limits and prices of the alias would not apply', async () => {
    for (const app of [open({ models: [{ id: 'vendor/y', alias: 'y' }] }), openTwo(general)]) {
      for (const path of ['/chat/completions', '/responses', '/completions', '/embeddings', '/messages']) {
        const body = { model: 'vendor/y', messages, input: 'hi', prompt: 'hi', max_tokens: 9 }
        const response = await app.post(path, body)
        expect(response.status).toBe(404)
      }
      expect((await app.get('/models/vendor%2Fy')).status).toBe(404)
      expect(app.asked).toEqual([])
      expect((await app.post('/chat/completions', { model: 'y', messages })).status).toBe(200)
    }
  })

  test('is known where an upstream has it in its list', async () => {
    const app = openTwo({ ...general, models: ['vendor/y'] })
    expect((await app.post('/chat/completions', { model: 'vendor/y', messages })).status).toBe(200)
    expect(app.asked[0]?.url).toStartWith('http://two.invalid/')
  })
})

describe('the maximum of the output', () => {
  const sent = async (upstream: Partial<TextUpstream>, request: object, path = '/chat/completions') => {
    const app = open(upstream)
    await app.post(path, { model: 'm', ...(path === '/responses' ? { input: 'hi' } : { messages }), ...request })
    const { max_tokens, max_completion_tokens, max_output_tokens } = app.asked[0]?.json ?? {}
    return { max_tokens, max_completion_tokens, max_output_tokens }
  }

  test('is lowered to that of the model', async () => {
    const models = ['x', { id: 'm', maxTokens: 1000 }]
    expect(await sent({ models }, { max_tokens: 1001 })).toEqual({ max_tokens: 1000 } as never)
    expect(await sent({ models }, { max_completion_tokens: 5000 })).toEqual({ max_completion_tokens: 1000 } as never)
    expect(await sent({ models }, { max_tokens: 1000 })).toEqual({ max_tokens: 1000 } as never)
    expect(await sent({ models }, {})).toEqual({ max_tokens: 1000 } as never)
    expect(await sent({ models, maxTokens: 5 }, {})).toEqual({ max_tokens: 1000 } as never)
    expect(await sent({ models }, { max_output_tokens: 1001 }, '/responses')).toEqual({
      max_output_tokens: 1000,
    } as never)
    expect(await sent({ models }, {}, '/responses')).toEqual({} as never)
    expect(await sent({ models, chatOnly: true }, { max_output_tokens: 1001 }, '/responses')).toEqual({
      max_tokens: 1000,
    } as never)
  })

  test('has the name that the upstream knows', async () => {
    const newer = { maxTokensField: 'max_completion_tokens' as const }
    expect(await sent(newer, { max_tokens: 7 })).toEqual({ max_completion_tokens: 7 } as never)
    expect(await sent(newer, { max_tokens: 7, max_completion_tokens: 8 })).toEqual({
      max_completion_tokens: 8,
    } as never)
    expect(await sent(newer, { max_tokens: 7, max_completion_tokens: null })).toEqual({
      max_completion_tokens: 7,
    } as never)
    expect(await sent(newer, { max_tokens: -1 })).toEqual({ max_completion_tokens: 4096 } as never)
    expect(await sent(newer, {})).toEqual({ max_completion_tokens: 4096 } as never)
    const older = { maxTokensField: 'max_tokens' as const, maxTokens: 5 }
    expect(await sent(older, { max_completion_tokens: 7 })).toEqual({ max_tokens: 5 } as never)
    expect(await sent({ ...newer, chatOnly: true }, { max_output_tokens: 9 }, '/responses')).toEqual({
      max_completion_tokens: 9,
    } as never)
  })
})

describe('headers of an upstream', () => {
  test('are sent with every request', async () => {
    const app = open({ key: 'the-upstream-key', headers: { 'X-Tenant': 'blue' } })
    await app.post('/chat/completions', { model: 'm', messages })
    await app.get('/models')
    for (const { headers } of app.asked)
      expect([headers.get('x-tenant'), headers.get('authorization')]).toEqual(['blue', 'Bearer the-upstream-key'])
  })

  test('replace those of the gateway, whatever their case', async () => {
    const app = open({ key: 'the-upstream-key', headers: { Authorization: 'Basic eDp5' } })
    await app.post('/chat/completions', { model: 'm', messages })
    expect(app.asked[0]?.headers.get('authorization')).toBe('Basic eDp5')
  })

  test('the key may have a header of its own', async () => {
    const app = open({ key: 'the-upstream-key', keyHeader: 'Api-Key' })
    await app.post('/chat/completions', { model: 'm', messages })
    const headers = app.asked[0]?.headers
    expect([headers?.get('api-key'), headers?.get('authorization')]).toEqual(['the-upstream-key', null])
  })

  test('a credential in a header does not reach a caller, in one event or several', async () => {
    const upstreams = [
      {
        url: 'http://one.invalid/v1',
        key: 'the-long-upstream-key',
        headers: { authorization: 'Basic c2VjcmV0LXNlY3JldA', 'x-tenant': 'a-tenant-name' },
      },
    ]
    const answer = (...pieces: readonly string[]) =>
      openApp(() => streaming([...pieces.map((content) => chunk({ content })), chunk({}, 'stop'), '[DONE]']), {
        upstreams,
      })
    const ask = async (app: ReturnType<typeof answer>, stream: boolean) => {
      const response = await app.post('/chat/completions', { model: 'm', messages, stream })
      return [response.status, await response.text()] as const
    }
    for (const credential of ['c2VjcmV0LXNlY3JldA', 'the-long-upstream-key']) {
      const pieces = credential.match(/.{1,4}/g) ?? []
      expect(await ask(answer('it is ', credential), false)).toEqual([502, expect.any(String)])
      for (const app of [answer('it is ', credential), answer('it is ', ...pieces)]) {
        const [status, text] = await ask(app, true)
        expect([status, dataOf(text).at(-1)]).toEqual([200, expect.stringContaining('"error"')])
        expect(text).not.toContain(`"${pieces.at(-1)}"`)
      }
    }
    // A value that is no credential may occur in any text.
    expect(await ask(answer('a-tenant-name'), true)).toEqual([200, expect.stringContaining('[DONE]')])
  })
})
