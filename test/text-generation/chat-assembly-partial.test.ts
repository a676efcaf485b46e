import { describe, expect, test } from 'bun:test'
import { createChatAssembly } from '../../plugins/text-generation/chat/assembly.ts'
import type { Recorded } from './chat-assembly-chunks.ts'
import { eventOf, streams } from './chat-assembly-streams.ts'

const create = () => {
  let ids = 0
  return createChatAssembly({ model: 'asked', clock: { now: () => 1_800_000_000_999 }, newId: () => `${++ids}` })
}

/** The partial completion after some chunks. */
const partialOf = (...chunks: readonly (object | string)[]) => {
  const assembly = create()
  for (const chunk of chunks) assembly.push(eventOf(chunk))
  return JSON.parse(assembly.partial())
}

const chunkOf = (delta: unknown, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] })
const call = (index: number, name: string, text: string) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name, arguments: text },
})

interface Message {
  readonly role: string
  readonly content: string | readonly { readonly text?: string }[] | null
  readonly tool_calls?: readonly Called[]
  readonly function_call?: { readonly name: string; readonly arguments: string }
  readonly [key: string]: unknown
}

interface Called {
  readonly id: string
  readonly type: string
  readonly function?: { readonly name: string; readonly arguments: string }
  readonly custom?: { readonly name: string; readonly input: string }
}

interface Completion {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly model: string
  readonly choices: readonly { readonly index: number; readonly message: Message; readonly finish_reason: string }[]
  readonly usage?: object
}

/** The partial completions before the first chunk and after each chunk. */
const cutOffs = (chunks: Recorded['chunks']): readonly Completion[] => {
  const assembly = create()
  return [
    JSON.parse(assembly.partial()),
    ...chunks.map((chunk) => {
      assembly.push(eventOf(chunk))
      return JSON.parse(assembly.partial())
    }),
  ]
}

/** The finish reasons of a choice in some chunks. */
const reasonsIn = (chunks: Recorded['chunks'], index: number): readonly string[] =>
  chunks
    .map((chunk) => JSON.parse(eventOf(chunk).data))
    .flatMap(({ choices }) => choices ?? [])
    .filter((choice) => (choice.index ?? 0) === index && choice.finish_reason)
    .map((choice) => choice.finish_reason)

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? JSON.stringify(part)).join('')

/** Name and arguments of a function call. */
const deedOf = (called: { readonly name: string; readonly arguments: string }) => ({
  name: called.name,
  arguments: JSON.parse(called.arguments),
})

describe('a partial completion after any chunk', () => {
  for (const [name, { chunks, response }] of Object.entries(streams)) {
    const whole: Completion = typeof response === 'string' ? JSON.parse(response) : response
    const finalOf = (index: number) => whole.choices.find((choice) => choice.index === index)?.message

    describe(name, () => {
      test('is a valid completion', () => {
        for (const cut of cutOffs(chunks)) {
          expect(cut.object).toBe('chat.completion')
          expect(cut.id).toStartWith('chatcmpl-')
          expect(Number.isInteger(cut.created)).toBe(true)
          expect(['asked', whole.model]).toContain(cut.model)
          expect(cut.choices.length).toBeGreaterThan(0)
          expect(cut.choices.map(({ index }) => index)).toEqual(cut.choices.map(({ index }) => index).sort())
          for (const { message, finish_reason } of cut.choices) {
            expect(message.role).toBe('assistant')
            expect(finish_reason).toBeString()
            expect(message.tool_calls).not.toEqual([])
            if (!message.tool_calls && !message.function_call) expect(message.content).not.toBeNull()
            expect(textOf(message).isWellFormed()).toBe(true)
          }
        }
      })

      test('has finish_reason length for unfinished choices', () => {
        for (const [count, cut] of cutOffs(chunks).entries()) {
          for (const { index, message, finish_reason } of cut.choices) {
            const expected = reasonsIn(chunks.slice(0, count), index).at(-1)
            // Audio may end without a finish reason.
            const last = message.audio && count >= 2 ? ['length', 'stop'] : ['length']
            expect(expected ? [expected] : last).toContain(finish_reason)
          }
        }
      })

      test('has a prefix of the text', () => {
        const cuts = cutOffs(chunks)
        for (const [count, cut] of cuts.entries()) {
          for (const { index, message } of cut.choices) {
            const later = cuts[count + 1]?.choices.find((choice) => choice.index === index)?.message ?? finalOf(index)
            if (later) expect(textOf(later)).toStartWith(textOf(message))
          }
        }
      })

      test('contains no partial tool call', () => {
        for (const cut of cutOffs(chunks)) {
          for (const { index, message, finish_reason } of cut.choices) {
            const final = finalOf(index)
            for (const called of message.tool_calls ?? []) {
              if (called.function) {
                const deeds = final?.tool_calls?.flatMap((last) => (last.function ? [deedOf(last.function)] : []))
                expect(deeds).toContainEqual(deedOf(called.function))
              } else {
                expect(finish_reason).not.toBe('length')
                expect(final?.tool_calls?.map(({ custom }) => custom)).toContainEqual(called.custom)
              }
            }
            if (message.function_call) {
              expect(final?.function_call && deedOf(final.function_call)).toEqual(deedOf(message.function_call))
            }
          }
        }
      })

      test('has usage only if the upstream has sent it', () => {
        for (const [count, cut] of cutOffs(chunks).entries()) {
          const told = chunks.slice(0, count).some((chunk) => JSON.parse(eventOf(chunk).data).usage)
          expect('usage' in cut).toBe(told)
        }
      })

      test('does not affect the further assembly', () => {
        const untouched = create()
        for (const chunk of chunks) untouched.push(eventOf(chunk))
        const touched = create()
        touched.partial()
        for (const chunk of chunks) {
          touched.push(eventOf(chunk))
          touched.partial()
        }
        const anyId = (text: string) => text.replaceAll(/"(?:chatcmpl-|call_)\d+"/g, '"id"')
        expect(anyId(touched.result())).toBe(anyId(untouched.result()))
      })
    })
  }
})

describe('a partial completion', () => {
  test('before anything was generated is empty', () => {
    const nothing = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_800_000_000,
      model: 'asked',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: '', refusal: null },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
    }
    expect(partialOf()).toStrictEqual(nothing)
    expect(partialOf({ choices: [] }, '')).toStrictEqual(nothing)
    expect(partialOf({ id: 'chatcmpl-7', created: 7, model: 'm', choices: [] })).toStrictEqual({
      ...nothing,
      id: 'chatcmpl-7',
      created: 7,
      model: 'm',
    })
  })

  test('keeps the reasons of finished choices', () => {
    const { choices } = partialOf(
      chunkOf({ content: 'a' }, { finish_reason: 'stop' }),
      chunkOf({ content: 'b' }, { index: 1 }),
      chunkOf({ content: 'c' }, { index: 2, finish_reason: 'tool_calls' }),
    )
    expect(choices.map((choice: { finish_reason: string }) => choice.finish_reason)).toEqual([
      'stop',
      'length',
      'tool_calls',
    ])
  })

  test('keeps complete calls and drops partial ones', () => {
    const { message } = partialOf(
      chunkOf({ tool_calls: [call(0, 'f', '{"a":1}'), call(1, 'g', '{"a":'), call(2, 'h', '{}')] }),
    ).choices[0]
    expect(message.tool_calls.map(({ id }: Called) => id)).toEqual(['call_0', 'call_2'])
    expect(message.content).toBeNull()
  })

  test('has no tool_calls when no call is complete', () => {
    for (const text of ['', '{', '{"a":1', '12', 'nonsense', '{}{}']) {
      const { message, finish_reason } = partialOf(chunkOf({ tool_calls: [call(0, 'f', text)] })).choices[0]
      expect(message).toStrictEqual({ role: 'assistant', content: '', refusal: null })
      expect(finish_reason).toBe('length')
    }
    expect(partialOf(chunkOf({ tool_calls: [call(0, '', '{}')] })).choices[0].message).not.toHaveProperty('tool_calls')
  })

  test('has a call once its arguments are complete JSON', () => {
    const assembly = create()
    const text = '{"a":{"b":[1,"}{\\""],"c":{}}}'
    assembly.push(eventOf(chunkOf({ tool_calls: [call(0, 'f', '')] })))
    const found = [...text].map((piece) => {
      assembly.push(eventOf(chunkOf({ tool_calls: [{ index: 0, function: { arguments: piece } }] })))
      return 'tool_calls' in JSON.parse(assembly.partial()).choices[0].message
    })
    expect(found.indexOf(true)).toBe(text.length - 1)
  })

  test('has a custom call only when its choice has finished', () => {
    const custom = { index: 0, id: 'call_0', type: 'custom', custom: { name: 'shell', input: 'rm -r build' } }
    expect(partialOf(chunkOf({ tool_calls: [custom] })).choices[0].message).not.toHaveProperty('tool_calls')
    const { tool_calls: calls } = partialOf(chunkOf({ tool_calls: [custom] }, { finish_reason: 'tool_calls' }))
      .choices[0].message
    expect(calls).toHaveLength(1)
  })

  test('has a deprecated function_call only when it is complete', () => {
    const half = { function_call: { name: 'f', arguments: '{"a":' } }
    expect(partialOf(chunkOf(half)).choices[0].message).toStrictEqual({ role: 'assistant', content: '', refusal: null })
    const { message } = partialOf(chunkOf(half), chunkOf({ function_call: { arguments: '1}' } })).choices[0]
    expect(message.function_call).toEqual({ name: 'f', arguments: '{"a":1}' })
    expect(message.content).toBeNull()
  })

  test('does not end with a lone surrogate', () => {
    const { message } = partialOf(chunkOf({ content: 'ok \ud83d', reasoning_content: 'hm\ud83d' })).choices[0]
    expect(message).toMatchObject({ content: 'ok ', reasoning_content: 'hm' })
  })

  test('has the reasoning and usage so far, with exact numbers', () => {
    const assembly = create()
    assembly.push(
      eventOf('{"choices":[{"delta":{"reasoning_content":"Hm"}}],"usage":{"total_tokens":12345678901234567890}}'),
    )
    expect(assembly.partial()).toBe(
      '{"id":"chatcmpl-1","object":"chat.completion","created":1800000000,"model":"asked","choices":[{"index":0,"message":{"role":"assistant","content":"","refusal":null,"reasoning_content":"Hm"},"logprobs":null,"finish_reason":"length"}],"usage":{"total_tokens":12345678901234567890}}',
    )
  })
})
