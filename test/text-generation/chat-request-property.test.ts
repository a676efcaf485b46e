import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readJson, toJson } from '../../plugins/shared/json/json.ts'
import { TextProblem } from '../../plugins/text-generation/protocol/problem.ts'
import { call, refusal } from './chat-requests.ts'
import { checkChatRequest } from './in-one-step.ts'

const word = fc.string({ maxLength: 8 })
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: word }),
  fc.record({ type: fc.constant('image_url'), image_url: fc.record({ url: word }) }),
  fc.record({ type: fc.constant('video_url'), video_url: fc.record({ url: word }) }),
  fc.record({ type: fc.constant('video'), video: fc.array(word, { minLength: 1, maxLength: 3 }) }),
  fc.record({ type: fc.constant('input_audio'), input_audio: fc.jsonValue({ maxDepth: 1 }) }),
)
const content = fc.oneof(word, fc.array(block, { minLength: 1, maxLength: 3 }))
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'user', 'assistant', 'developer'), content }),
  fc.record({ role: fc.constant('tool'), content, tool_call_id: fc.string({ minLength: 1, maxLength: 4 }) }),
  fc.record({ role: fc.constant('assistant'), content: fc.constant(null), tool_calls: fc.constant([call]) }),
)
const chatRequest = fc.record(
  {
    model: fc.string({ minLength: 1, maxLength: 8 }),
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
    stream: fc.option(fc.boolean()),
    max_tokens: fc.option(fc.integer({ min: 1 })),
    temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true })),
    top_p: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    tools: fc.option(fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 })),
    response_format: fc.option(fc.record({ type: word })),
    stream_options: fc.option(fc.record({ include_usage: fc.boolean() })),
    vendor_field: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['model', 'messages'] },
)

/** Every position where a value of a wrong type is a violation, as path steps. */
const places = (value: unknown, steps: readonly (string | number)[] = []): (readonly (string | number)[])[] => {
  const named = new Set(
    (
      'model messages role content tool_call_id type text image_url url video_url video stream max_tokens temperature top_p ' +
      'tools response_format stream_options'
    ).split(' '),
  )
  const under = (key: string | number, inner: unknown) => [[...steps, key], ...places(inner, [...steps, key])]
  if (Array.isArray(value)) return value.flatMap((element, nth) => under(nth, element))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .filter(([key]) => named.has(key))
    .flatMap(([key, inner]) => (key === 'tools' ? [[...steps, key]] : under(key, inner)))
}

const paramOf = (steps: readonly (string | number)[]) =>
  steps.map((step, nth) => (typeof step === 'number' ? `[${step}]` : nth === 0 ? step : `.${step}`)).join('')

const injected = (value: unknown, [step, ...rest]: readonly (string | number)[], wrong: unknown): unknown => {
  if (step === undefined) return wrong
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) }
  Reflect.set(copy, step, injected(Reflect.get(copy, step), rest, wrong))
  return copy
}

describe('the validation of random requests', () => {
  test('accepts valid requests', () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        const { model, stream, includeUsage } = checkChatRequest(toJson(request))
        expect(model).toBe(request.model)
        expect(stream).toBe(request.stream === true)
        expect(includeUsage).toBe(request.stream_options?.include_usage === true)
      }),
      { seed: 39, numRuns: 500 },
    )
  })

  test('finds a single violation at its path', () => {
    fc.assert(
      fc.property(chatRequest, fc.nat(), (request, nth) => {
        const all = places(request)
        const place = all[nth % all.length] ?? []
        // A value that is invalid everywhere: no string, array, object or boolean, and out of every range.
        const problem = refusal(injected(request, place, -7))
        expect([problem.status, problem.param]).toEqual([400, paramOf(place)])
      }),
      { seed: 39, numRuns: 1000 },
    )
  })

  test('finds a duplicate key at its path', () => {
    fc.assert(
      fc.property(chatRequest, fc.nat(), (request, nth) => {
        const all = places(request).filter((steps) => typeof steps.at(-1) === 'string')
        const place = all[nth % all.length] ?? []
        const mark = 'here it stands'
        const text = JSON.stringify(injected(request, place, mark))
        const original = JSON.stringify(
          place.reduce<unknown>((value, step) => Reflect.get(Object(value), step), request),
        )
        const key = JSON.stringify(place.at(-1))
        const twice = text.replace(`${key}:"${mark}"`, () => `${key}:${original},${key}:${original}`)
        expect(refusal(twice).param).toBe(paramOf(place))
      }),
      { seed: 39, numRuns: 500 },
    )
  })

  test('accepts or rejects every object', () => {
    const keys = fc.constantFrom(
      'model',
      'messages',
      'role',
      'content',
      'type',
      'text',
      'url',
      'image_url',
      'stream',
      'x',
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<unknown>(null, 'user', 'text', 'image_url', '', 1, true),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(keys, tie('tree'), { maxKeys: 5 }),
      ),
    }))
    const request = fc.oneof(
      fc.json().filter((text) => text.startsWith('{')),
      tree.map((value) => JSON.stringify({ model: 'm', messages: value })),
      tree.map((value) => JSON.stringify({ model: 'm', messages: [value] })),
    )
    fc.assert(
      fc.property(request, (text) => {
        try {
          checkChatRequest(readJson(text))
        } catch (error) {
          expect(error).toBeInstanceOf(TextProblem)
        }
      }),
      { seed: 39, numRuns: 1000 },
    )
  })
})
