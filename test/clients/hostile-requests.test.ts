import { describe, expect, test } from 'bun:test'
import { internalDetails } from '../support/gateway.ts'
import { hello, model, openFixture, openFixtureFor, thrown } from './fixture.ts'
import { chatOnly, event, native, open, post, request } from './raw-http.ts'

describe('hostile requests', () => {
  const rest = `"messages":[{"role":"user","content":"x"}]`
  const bodies: Record<
    string,
    { body: string | Uint8Array<ArrayBuffer>; param?: string; path?: string; headers?: object }
  > = {
    'a model twice': { body: `{"model":"a","model":"${model}",${rest}}`, param: 'model' },
    'a model twice, once escaped': { body: `{"model":"${model}","mod\\u0065l":"a",${rest}}`, param: 'model' },
    'messages twice': { body: `{"model":"${model}",${rest},"messages":[]}`, param: 'messages' },
    'input twice': { body: `{"model":"${model}","input":"a","input":"b"}`, param: 'input', path: '/responses' },
    'tools twice': {
      body: `{"model":"${model}","input":"a","tools":[],"tools":[]}`,
      param: 'tools',
      path: '/responses',
    },
    'stream as a string': { body: `{"model":"${model}",${rest},"stream":"true"}`, param: 'stream' },
    'a model that is a number': { body: `{"model":7,${rest}}`, param: 'model' },
    'a model that is empty': { body: `{"model":"",${rest}}`, param: 'model' },
    'a byte order mark': { body: `\ufeff{"model":"${model}",${rest}}` },
    'UTF-16': { body: Buffer.from(`{"model":"${model}",${rest}}`, 'utf16le') },
    'invalid UTF-8': { body: Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xff, 0x22, 0x7d])]) },
    nothing: { body: '' },
    'an array': { body: '[]' },
    'half an object': { body: `{"model":"${model}",` },
    'an object nested 500,000 deep': { body: `{"model":"${model}",${rest},"x":${'['.repeat(5e5)}${']'.repeat(5e5)}}` },
    'a body that is not in gzip, as it claims': {
      body: `{"model":"${model}",${rest}}`,
      headers: { 'content-encoding': 'gzip' },
    },
  }
  for (const [title, { body, param = null, path = '/chat/completions', headers }] of Object.entries(bodies)) {
    test(`${title} is rejected without an upstream call`, async () => {
      await using fixture = await openFixture()
      const reply = await post(fixture, path, body, headers)
      expect(reply.status).toBe(400)
      expect(reply.headers.get('content-type')).toBe('application/json')
      expect(JSON.parse(reply.text)).toEqual({
        error: { message: expect.any(String), type: 'invalid_request_error', param, code: null },
      })
      expect(reply.text).not.toMatch(internalDetails)
      expect(fixture.generatingCalls()).toEqual([])
    })
  }

  test('model names reach the upstream unchanged, and only in the body', async () => {
    await using fixture = await openFixture()
    for (const name of ['x\r\nX-Evil: 1', 'x\0', '\ud800', '{"a":1}', '\u2028', '../../etc', 'x'.repeat(256)]) {
      const caught = await thrown(fixture.openai.chat.completions.create({ model: name, messages: hello('x') }))
      expect(caught).toMatchObject({ status: 404, code: 'model_not_found' })
      expect(fixture.generatingCalls().at(-1)?.json).toMatchObject({ model: name })
      expect(fixture.generatingCalls().at(-1)?.headers).not.toHaveProperty('x-evil')
      expect(fixture.generatingCalls().at(-1)?.path).toBe('/v1/chat/completions')
    }
    const calls = fixture.generatingCalls().length
    const long = fixture.openai.chat.completions.create({ model: 'x'.repeat(257), messages: hello('x') })
    expect(await thrown(long)).toMatchObject({ status: 400, param: 'model' })
    expect(fixture.generatingCalls()).toHaveLength(calls)
  })

  test('model ids cannot select another path', async () => {
    await using fixture = await openFixture()
    for (const id of [
      '..%2f..%2fapi',
      'a%0d%0ab',
      'x%00',
      'a%3fb',
      '%ff',
      '%2e%2e',
      '..%5c..',
      'a%252fb',
      '%2f',
      'a%23',
    ]) {
      const { socket, closed } = open(fixture)
      socket.write(request(fixture, '', 'Connection: close\r\n', `GET /v1/models/${id} HTTP/1.1`))
      expect(await closed).toStartWith('HTTP/1.1 404')
    }
    expect(fixture.emulator.calls).toEqual([])
  })

  test('line separators and lone surrogates pass in both directions', async () => {
    for (const variant of [native, chatOnly]) {
      await using fixture = await openFixtureFor(variant)
      const odd = 'a\u2028b\u2029c\u0085d\ud83de\ude00f\u0000g\r\nh\ufeff'
      const response = await fixture.openai.chat.completions.create({ model, messages: hello(odd) })
      expect(response.choices[0]?.message.content).toStartWith(`You wrote: “${odd}”.`)
      const stream = fixture.openai.responses.stream({ model, input: odd })
      expect((await stream.finalResponse()).output_text).toStartWith(`You wrote: “${odd}”.`)
    }
  })

  test('a surrogate pair that is split over two deltas is joined', async () => {
    for (const variant of [native, chatOnly]) {
      await using fixture = await openFixtureFor(variant)
      const chunks = [
        event('{"choices":[{"index":0,"delta":{"content":"\\ud83e"},"finish_reason":null}]}'),
        event('{"choices":[{"index":0,"delta":{"content":"\\udd8a\u2028!"},"finish_reason":"stop"}]}'),
        event('[DONE]'),
      ]
      fixture.emulator.text.respondWith({ chunks }, { times: 2 })
      if (variant === native) {
        const response = await fixture.openai.chat.completions.create({ model, messages: hello('x') })
        expect(response.choices[0]?.message.content).toBe('🦊\u2028!')
      } else {
        expect((await fixture.openai.responses.create({ model, input: 'x' })).output_text).toBe('🦊\u2028!')
        const final = await fixture.openai.responses.stream({ model, input: 'x' }).finalResponse()
        expect(final.output_text).toBe('🦊\u2028!')
      }
    }
  })

  test('keys such as __proto__ are ordinary keys', async () => {
    await using fixture = await openFixture()
    const odd = '"__proto__":{"polluted":1},"constructor":"c","toString":"s"'
    const chunks = [
      event(`{"choices":[{"index":0,"delta":{"content":"a",${odd}},"finish_reason":null}],${odd}}`),
      event(`{"choices":[{"index":0,"delta":{"content":"b",${odd}},"finish_reason":"stop"}],${odd}}`),
      event('[DONE]'),
    ]
    fixture.emulator.text.respondWith({ chunks })
    const response = await fixture.openai.chat.completions.create({ model, messages: hello('x') })
    expect(response.choices[0]?.message.content).toBe('ab')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})
