import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readJson, toJson } from '../../plugins/shared/json/json.ts'
import type { Capabilities } from '../../plugins/text-generation/models/routing.ts'
import { TextProblem } from '../../plugins/text-generation/protocol/problem.ts'
import { asResponsesStream, checkResponsesRequest } from '../../plugins/text-generation/responses/request.ts'

const minimal = { model: 'm', input: 'hello' }
const withItem = (item: unknown) => ({ ...minimal, input: [{ role: 'user', content: 'x' }, item] })
const withPart = (part: unknown) => withItem({ role: 'user', content: [{ type: 'input_text', text: 'x' }, part] })

const refusal = (request: unknown, rules?: Pick<Capabilities, 'maxTemperature'>): TextProblem => {
  try {
    checkResponsesRequest(typeof request === 'string' ? readJson(request) : toJson(request), rules)
  } catch (error) {
    if (error instanceof TextProblem) return error
    throw error
  }
  throw new Error('the request was accepted')
}

describe('an invalid request is rejected with the JSON path of the parameter', () => {
  const rejected: readonly (readonly [param: string, request: unknown])[] = [
    ['model', { input: 'x' }],
    ['model', { ...minimal, model: '' }],
    ['model', { ...minimal, model: {} }],
    ['model', { ...minimal, model: 'm'.repeat(257) }],
    ['input', { model: 'm' }],
    ['input', { ...minimal, input: null }],
    ['input', { ...minimal, input: 5 }],
    ['input', { ...minimal, input: { role: 'user', content: 'x' } }],
    ['input[1]', withItem('x')],
    ['input[1]', withItem(null)],
    ['input[1].type', withItem({ type: 5 })],
    ['input[1].role', withItem({ role: 5, content: 'x' })],
    ['input[1].text', withItem({ role: 'user', text: 5 })],
    ['input[1].content', withItem({ role: 'user', content: 5 })],
    ['input[1].content', withItem({ type: 'message', role: 'user', content: {} })],
    ['input[1].content[1].text', withPart({ type: 'text' })],
    ['input[1].content[1].text', withPart({ type: 'input_text', text: null })],
    ['input[1].content[1].text', withPart({ type: 'output_text', text: ['x'] })],
    ['reasoning', { ...minimal, reasoning: 'low' }],
    ['tools', { ...minimal, tools: { type: 'web_search' } }],
    ['tool_choice', { ...minimal, tool_choice: true }],
    ['tool_choice', { ...minimal, tool_choice: ['auto'] }],
    ['text', { ...minimal, text: 'json' }],
    ['stream', { ...minimal, stream: 'yes' }],
    ['background', { ...minimal, background: 1 }],
    ['max_output_tokens', { ...minimal, max_output_tokens: 0 }],
    ['max_output_tokens', { ...minimal, max_output_tokens: 1.5 }],
    ['max_output_tokens', { ...minimal, max_output_tokens: '5' }],
    ['temperature', { ...minimal, temperature: 2.5 }],
    ['temperature', { ...minimal, temperature: 'hot' }],
    ['top_p', { ...minimal, top_p: 1.5 }],
    ['model', '{"model":"m","input":"x","model":"n"}'],
    ['input', '{"model":"m","input":"x","\\u0069nput":[]}'],
    ['stream', '{"model":"m","input":"x","stream":true,"stream":true}'],
    ['max_output_tokens', '{"model":"m","input":"x","max_output_tokens":1,"max_output_tokens":2}'],
    ['input[0].content', '{"model":"m","input":[{"content":"x","content":[]}]}'],
    ['input[0].content[0].text', '{"model":"m","input":[{"content":[{"type":"text","text":"x","text":"y"}]}]}'],
  ]

  for (const [param, request] of rejected) {
    test(`${param}: ${typeof request === 'string' ? request : JSON.stringify(request)}`, () => {
      const problem = refusal(request)
      expect([problem.status, problem.param]).toEqual([400, param])
      expect(problem.message.startsWith(`${param} `)).toBeTrue()
    })
  }

  test('the temperature range is that of the model', () => {
    const warm = { ...minimal, temperature: 1.5 }
    expect(checkResponsesRequest(toJson(warm)).model).toBe('m')
    expect(refusal(warm, { maxTemperature: 1 }).message).toBe('temperature must be a number from 0 to 1')
  })
})

describe('documented parameters and those that client libraries add pass', () => {
  const accepted: readonly unknown[] = [
    minimal,
    { ...minimal, input: '' },
    { ...minimal, input: [] },
    withItem({ role: 'system', text: 'be kind' }),
    withItem({ type: 'message', role: 'developer', content: [] }),
    withItem({ type: 'function_call_output', call_id: 'c', output: '1' }),
    withItem({ type: 'reasoning', summary: [], content: 5 }),
    withItem({ type: 'item_reference', id: 'i' }),
    withItem({ type: 'hologram', content: 7, text: 7 }),
    withPart({ type: 'input_image', image_url: 'https://a/b.png' }),
    withPart({ type: 'refusal', refusal: 'no' }),
    withPart({ type: 'hologram', text: 5 }),
    withPart('x'),
    { ...minimal, reasoning: { effort: 'low' }, tools: [{ type: 'web_search' }], tool_choice: 'auto' },
    { ...minimal, tool_choice: { type: 'function', name: 'f' }, text: { format: { type: 'text' } } },
    { ...minimal, max_output_tokens: 1, temperature: 0, top_p: 1 },
    { ...minimal, reasoning: null, tools: null, tool_choice: null, text: null, stream: null, background: null },
    { ...minimal, max_output_tokens: null, temperature: null, top_p: null, unheard_of: [{}] },
  ]

  for (const request of accepted) {
    test(JSON.stringify(request), () => {
      expect(checkResponsesRequest(toJson(request))).toEqual({
        model: 'm',
        stream: false,
        background: false,
        stores: true,
      })
    })
  }

  test('the parsed request has `stream` and `background`', () => {
    const request = toJson({ ...minimal, stream: true, background: true })
    expect(checkResponsesRequest(request)).toEqual({ model: 'm', stream: true, background: true, stores: true })
  })

  test('`store` is true by default', () => {
    const stores = (store: unknown) => checkResponsesRequest(toJson({ ...minimal, store })).stores
    expect([stores(null), stores(true), stores(false)]).toEqual([true, true, false])
    expect(() => checkResponsesRequest(readJson('{"model":"m","input":"x","store":false,"store":true}'))).toThrow(
      'store is given more than once',
    )
  })

  test('every object is accepted or rejected', () => {
    const keys = fc.constantFrom('role', 'content', 'type', 'text', 'message', 'x')
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<unknown>(null, 'message', 'text', '', 1),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    const request = fc.oneof(
      fc.json().filter((text) => text.startsWith('{')),
      tree.map((value) => JSON.stringify({ model: 'm', input: [value] })),
    )
    fc.assert(
      fc.property(request, (text) => {
        try {
          checkResponsesRequest(readJson(text))
        } catch (error) {
          expect(error).toBeInstanceOf(TextProblem)
        }
      }),
      { seed: 39, numRuns: 1000 },
    )
  })
})

describe('setting `stream` keeps every other byte', () => {
  for (const [before, after] of [
    ['{ "model":"m" , "seed": 12345678901234567890 }', '{ "model":"m" , "seed": 12345678901234567890 ,"stream":true}'],
    ['{ "stream" : false , "x" : 1.0 }', '{ "stream" : true , "x" : 1.0 }'],
    ['{"stream":null}', '{"stream":true}'],
  ] as const) {
    test(before, () => {
      const once = asResponsesStream(readJson(before))
      expect(once.raw).toBe(after)
      expect(asResponsesStream(once)).toBe(once)
    })
  }
})
