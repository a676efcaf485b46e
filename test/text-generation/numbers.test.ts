import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseLossless } from '../../plugins/shared/json/lossless.ts'
import { openApp, streamingText } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]

/** Numbers whose text changes with `JSON.parse` and `JSON.stringify`. */
const fragile = [
  '9007199254740993',
  '-12345678901234567890123',
  '1.0',
  '1.10',
  '-0',
  '-0.0',
  '1e400',
  '-1E+400',
  '1e2',
  '1e-9',
  '0.0000001',
  '-0.0000005',
  '1234567890.12345678901',
  '0.1000000000000000055511151231257827',
  '3.14159265358979323846',
  '5e-324',
]

/** `"n0":…,"n1":…`: the numbers as unknown members. */
const members = fragile.map((number, nth) => `"n${nth}":${number}`).join(',')
const object = `{${members}}`
const list = `[${fragile.join(',')}]`

/** The numbers whose text is not in the result at least once for each of the `places`. */
const changedIn = (text: string, places: number): string[] =>
  fragile.filter((number, nth) => text.split(new RegExp(`"n${nth}":${escaped(number)}(?=[,}])`)).length - 1 < places)
const escaped = (text: string) => text.replace(/[.+]/g, '\\$&')

const plain = (json: string) => new Response(json, { headers: { 'content-type': 'application/json' } })

const completion = `{"id":"c","object":"chat.completion","created":1,"model":"m",${members},
  "choices":[{"index":0,"finish_reason":"tool_calls",${members},
    "logprobs":{"content":[{"token":"x","logprob":-0.0000005,"bytes":null,"top_logprobs":[],${members}}],"refusal":null},
    "message":{"role":"assistant","content":"x","extra":${object},
      "tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\\"a\\":1.0}","schema":${object}}}]}}],
  "usage":{"prompt_tokens":1.0,"completion_tokens":2,"details":${object}}}`

const response = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m",${members},
  "output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed",${members},
    "content":[{"type":"output_text","text":"x","annotations":[],"logprobs":[{"token":"x",${members}}],"extra":${list}}]},
    {"id":"fc_1","type":"function_call","call_id":"t","name":"f","arguments":"{\\"a\\":1.0}","status":"completed","schema":${object}}],
  "tools":[{"type":"function","name":"f","parameters":{"maximum":9007199254740993,${members}}}],
  "usage":{"input_tokens":1.0,"output_tokens":2,"details":${object}}}`

describe('a JSON response that becomes a stream keeps its numbers', () => {
  const upstreams = [{ url: 'http://upstream.invalid/v1', streams: false }]

  test('chat', async () => {
    const app = openApp(() => plain(completion), { upstreams })
    const response = await app.post('/chat/completions', {
      model: 'm',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const text = await response.text()
    expect(changedIn(text, 6)).toEqual([])
    expect(text).toContain('"logprob":-0.0000005,')
    expect(text).toContain('"prompt_tokens":1.0,')
    expect(text).toContain('[DONE]')
    expect(app.usage[0]?.tokens).toMatchObject({ input: 1, output: 2 })
  })

  test('responses', async () => {
    const app = openApp(() => plain(response), { upstreams })
    const text = await (await app.post('/responses', { model: 'm', input: 'hi', stream: true })).text()
    expect(changedIn(text, 6)).toEqual([])
    expect(text).toContain(list)
    expect(text).toContain('[DONE]')
    expect(app.usage[0]?.tokens).toMatchObject({ input: 1, output: 2 })
  })

  for (const stream of [false, true]) {
    test(`chat completion for a caller of responses${stream ? ', streaming' : ''}`, async () => {
      const app = openApp(() => plain(completion), {
        upstreams: [{ ...upstreams[0], url: 'http://u/v1', chatOnly: true }],
      })
      const tools = [{ type: 'function', name: 'f', parameters: { maximum: 0 } }]
      const body = JSON.stringify({ model: 'm', input: 'hi', stream, tools }).replace('"maximum":0', members)
      const text = await (await app.post('/responses', body)).text()
      expect(changedIn(text, 1)).toEqual([])
      expect(text).toContain('"logprob":-0.0000005,')
      expect(text).toContain('"input_tokens":1.0,')
    })
  }
})

describe('a stream that becomes a JSON response keeps its numbers', () => {
  test('chat', async () => {
    const chunk = completion.replace('"message":', '"delta":').replace('chat.completion', 'chat.completion.chunk')
    const app = openApp(() => streamingText(`data: ${chunk.replaceAll('\n', ' ')}\n\ndata: [DONE]\n\n`))
    const text = await (await app.post('/chat/completions', { model: 'm', messages })).text()
    expect(changedIn(text, 6)).toEqual([])
    expect(text).toContain('"logprob":-0.0000005,')
    expect(text).toContain('"prompt_tokens":1.0,')
  })

  for (const [name, events] of [
    ['in the last event', [`{"type":"response.completed","sequence_number":1,"response":${response}}`]],
    [
      'assembled',
      [
        `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","tools":[${object}],"x":${object},"output":[]}}`,
        `{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message","x":${object},"content":[]}}`,
        `{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","x":${object}}}`,
        `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"x","logprobs":[${object}]}`,
        `{"type":"response.completed","sequence_number":9,"response":{"usage":${object}}}`,
      ],
    ],
  ] as const) {
    test(`responses, ${name}`, async () => {
      const stream = events.map((event) => `data: ${event.replaceAll('\n', ' ')}\n\n`).join('')
      const app = openApp(() => streamingText(stream))
      const text = await (await app.post('/responses', { model: 'm', input: 'hi' })).text()
      expect(changedIn(text, 6)).toEqual([])
    })
  }

  test('also a partial response that repeats its request', async () => {
    let now = 0
    const rings: (() => void)[] = []
    const clock = {
      now: () => now,
      at(_ms: number, ring: () => void) {
        rings.push(ring)
        return () => {}
      },
    }
    const app = openApp(
      ({ signal }) => {
        queueMicrotask(() => {
          now = 10_000_000
          for (const ring of rings) ring()
        })
        return streamingText('', 'stall', signal)
      },
      { clock },
    )
    const body = `{"model":"m","input":"hi","tools":[{"type":"function","name":"f","parameters":${object}}]}`
    const response = await app.post('/responses', body)
    expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
    expect(changedIn(await response.text(), 1)).toEqual([])
  })
})

describe('an error keeps its numbers', () => {
  const error = `{"error":{"message":"x","code":400.0,"details":${object}}}`

  for (const stream of [true, false]) {
    test(`${stream ? 'as the first event of a stream' : 'in the upstream stream of a non-streaming call'}`, async () => {
      const app = openApp(() => streamingText(`data: ${error}\n\n`))
      const response = await app.post('/chat/completions', { model: 'm', messages, stream })
      expect(response.status).toBe(400)
      const text = await response.text()
      expect(changedIn(text, 1)).toEqual([])
      expect(text).toContain('"code":400.0,')
    })
  }

  test('with a success status', async () => {
    const app = openApp(() => plain(error))
    const response = await app.post('/chat/completions', { model: 'm', messages })
    expect([response.status, changedIn(await response.text(), 1)]).toEqual([400, []])
  })
})

describe('losslessly parsed JSON', () => {
  const digits = fc.stringMatching(/^\d{1,24}$/)
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      digits.map((text) => text.replace(/^0+(?=\d)/, '')),
      fc.option(fc.tuple(fc.constantFrom('', '0', '000000', '00000000'), digits), { nil: undefined }),
      fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), fc.integer({ min: 0, max: 400 })), { nil: undefined }),
    )
    .map(
      ([sign, whole, part, power]) => `${sign}${whole}${part ? `.${part.join('')}` : ''}${power ? power.join('') : ''}`,
    )

  test('is serialized with the same text of all numbers', () => {
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 4 }), (numbers) => {
        const text = `{"a":[${numbers.join(',')}],"b":${numbers[0]},"c":{"d":[[${numbers[0]}]]}}`
        expect(JSON.stringify(parseLossless(text))).toBe(text)
      }),
      { seed: 9, numRuns: 5000 },
    )
  })

  test('also with white space around numbers', () => {
    for (const number of fragile) {
      expect(JSON.stringify(parseLossless(`{"a" :\n\t ${number} ,"b":[ ${number}\r]}`))).toBe(
        `{"a":${number},"b":[${number}]}`,
      )
    }
  })
})
