import { describe, expect, test } from 'bun:test'
import { type Assembly, StreamError } from '../../plugins/text-generation/assembly.ts'
import { type ChatAssemblyOptions, createChatAssembly } from '../../plugins/text-generation/chat/assembly.ts'
import { eventOf, streams } from './chat-assembly-streams.ts'

/** An assembly that has been told some chunks, at a fixed time and with ids in their order. */
const assemblyOf = (chunks: readonly (object | string)[], options: Partial<ChatAssemblyOptions> = {}): Assembly => {
  let ids = 0
  const assembly = createChatAssembly({
    model: 'asked',
    now: () => 1_800_000_000_999,
    newId: () => `${++ids}`,
    ...options,
  })
  for (const chunk of chunks) assembly.push(eventOf(chunk))
  return assembly
}

const resultOf = (chunks: readonly (object | string)[]) => JSON.parse(assemblyOf(chunks).result())

/** What a push is refused with. */
const refused = (chunks: readonly (object | string)[], options?: Partial<ChatAssemblyOptions>): StreamError => {
  try {
    assemblyOf(chunks, options)
  } catch (error) {
    if (error instanceof StreamError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

const chunkOf = (delta: unknown, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] })

describe('a stream comes to the answer that a call without streaming would have had', () => {
  test('there are streams to look at', () => {
    expect(Object.keys(streams).length).toBeGreaterThan(40)
  })

  for (const [name, { chunks, answer }] of Object.entries(streams)) {
    test(name, () => {
      const assembly = assemblyOf([...chunks, '[DONE]'])
      expect(assembly.complete).toBe(true)
      const text = assembly.result()
      if (typeof answer === 'string') expect(text).toBe(answer)
      else expect(JSON.parse(text)).toStrictEqual(answer)
      expect(JSON.parse(JSON.stringify(assembly.usage ?? null))).toEqual(JSON.parse(text).usage ?? null)
    })
  }

  test('the surroundings stand before and the unknown behind what matters', () => {
    const { chunks } = streams['unknown members of chunks and choices'] ?? { chunks: [] }
    const answer = resultOf([...chunks, { choices: [], usage: { total_tokens: 1 } }])
    expect(Object.keys(answer).slice(0, 6)).toEqual(['id', 'object', 'created', 'model', 'choices', 'usage'])
    expect(Object.keys(answer.choices[0]).slice(0, 4)).toEqual(['index', 'message', 'logprobs', 'finish_reason'])
    expect(Object.keys(answer.choices[0].message).slice(0, 3)).toEqual(['role', 'content', 'refusal'])
  })

  test('no member of a chunk changes what other objects have', () => {
    const { chunks } = streams['members named like those that every object has'] ?? { chunks: [] }
    resultOf(chunks)
    expect('polluted' in {}).toBe(false)
    expect(`${{}}`).toBe('[object Object]')
  })

  test('an answer asked for twice is the same twice', () => {
    const assembly = assemblyOf([
      chunkOf({ tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }, { finish_reason: 'stop' }),
    ])
    expect(assembly.result()).toBe(assembly.result())
    expect(JSON.parse(assembly.partial())).toEqual(JSON.parse(assembly.result()))
  })

  test('a text of a hundred thousand pieces is whole', () => {
    const assembly = assemblyOf([])
    const pieces = Array.from({ length: 100_000 }, (_, at) => `${at} `)
    for (const content of pieces) assembly.push(eventOf(chunkOf({ content })))
    expect(JSON.parse(assembly.partial()).choices[0].message.content).toBe(pieces.join(''))
  })
})

describe('what an upstream leaves out is filled in', () => {
  test('id, time and model of the answer', () => {
    expect(resultOf([chunkOf({ content: 'Hi' }, { finish_reason: 'stop' })])).toMatchObject({
      id: 'chatcmpl-1',
      created: 1_800_000_000,
      model: 'asked',
    })
  })

  test('ids of tool calls, each its own', () => {
    const call = { function: { name: 'f', arguments: '{"a":1}' } }
    const answer = resultOf([chunkOf({ tool_calls: [call, { ...call, id: '' }, { ...call, id: null }] }), '[DONE]'])
    expect(answer.choices[0].message.tool_calls).toEqual(
      ['call_2', 'call_3', 'call_4'].map((id) => ({ id, type: 'function', ...call })),
    )
  })

  test('ids are random by default', () => {
    const ids = [1, 2].map(() => JSON.parse(assemblyOf([], { newId: undefined }).partial()).id)
    expect(ids[0]).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
    expect(ids[0]).not.toBe(ids[1])
  })

  test('the type of a tool call', () => {
    const answer = resultOf([
      chunkOf({
        tool_calls: [
          { index: 0, id: 'a', custom: { name: 'c' } },
          { index: 1, id: 'b', function: { name: 'f' } },
        ],
      }),
    ])
    expect(answer.choices[0].message.tool_calls).toEqual([
      { id: 'a', type: 'custom', custom: { name: 'c', input: '' } },
      { id: 'b', type: 'function', function: { name: 'f', arguments: '' } },
    ])
  })

  test('what a tool of an unknown type is called with is kept as it is', () => {
    const call = { id: 'a', type: 'web_search', web_search: { query: 'q' } }
    expect(resultOf([chunkOf({ tool_calls: [{ index: 0, ...call }] })]).choices[0].message.tool_calls).toEqual([call])
  })
})

describe('an answer is complete when every choice that appeared has finished', () => {
  test('not before anything was said', () => {
    expect(assemblyOf([]).complete).toBe(false)
  })

  test('not by [DONE] alone', () => {
    expect(assemblyOf(['[DONE]']).complete).toBe(false)
    expect(assemblyOf([chunkOf({ content: 'Hi' }), '[DONE]']).complete).toBe(false)
  })

  test('without [DONE]', () => {
    expect(assemblyOf([chunkOf({ content: 'Hi' }, { finish_reason: 'stop' })]).complete).toBe(true)
  })

  test('not while one of two is open', () => {
    const open = [chunkOf({}, { index: 1 }), chunkOf({}, { finish_reason: 'stop' })]
    expect(assemblyOf(open).complete).toBe(false)
    expect(assemblyOf([...open, chunkOf({}, { index: 1, finish_reason: 'stop' })]).complete).toBe(true)
  })

  test('an empty reason is none', () => {
    expect(assemblyOf([chunkOf({ content: 'Hi' }, { finish_reason: '' })]).complete).toBe(false)
  })

  test('audio has not finished while something of it is missing, or when more follows', () => {
    const audio = { id: 'a', data: 'AQID', transcript: 'Hm' }
    const expiry = chunkOf({ audio: { expires_at: 1 } })
    expect(assemblyOf([chunkOf({ audio }), expiry]).complete).toBe(true)
    expect(assemblyOf([chunkOf({ audio: { ...audio, transcript: null } }), expiry]).complete).toBe(false)
    expect(assemblyOf([chunkOf({ audio }), expiry, chunkOf({ content: 'more' })]).complete).toBe(false)
    expect(assemblyOf([chunkOf({ audio: { ...audio, expires_at: 1 } })]).complete).toBe(false)
  })
})

describe('what is no part of an answer', () => {
  test('anything after [DONE] is ignored', () => {
    const late = ['[DONE]', chunkOf({ content: 'late' }), 'nonsense', { error: { message: 'late' } }]
    expect(JSON.parse(assemblyOf([chunkOf({ content: 'Hi' }), ...late]).partial()).choices[0].message.content).toBe(
      'Hi',
    )
  })

  test('empty data says nothing', () => {
    expect(assemblyOf(['', ' ', chunkOf({ content: 'Hi' }, { finish_reason: 'stop' })]).complete).toBe(true)
  })

  test('events of other names say nothing unless they look like chunks', () => {
    const assembly = assemblyOf([chunkOf({ content: 'Hi' })])
    assembly.push({ type: 'ping', data: '{"type":"ping","content":"x"}' })
    assembly.push({ type: 'completion', data: JSON.stringify(chunkOf({ content: '!' }, { finish_reason: 'stop' })) })
    assembly.push({ type: 'usage', data: '{"usage":{"total_tokens":3}}' })
    const answer = JSON.parse(assembly.result())
    expect(answer).not.toHaveProperty('type')
    expect(answer.choices[0].message.content).toBe('Hi!')
    expect(assembly.usage).toEqual({ total_tokens: 3 })
  })

  test('a falsy error is none', () => {
    expect(resultOf([{ ...chunkOf({ content: 'Hi' }), error: null }])).not.toHaveProperty('error')
  })
})

describe('an upstream that goes wrong is quoted', () => {
  const error = { message: 'overloaded', type: 'server_error', param: null, code: 503 }

  const told = (type: string, data: string) => {
    try {
      assemblyOf([]).push({ type, data })
    } catch (thrown) {
      if (thrown instanceof StreamError) return { message: thrown.message, said: thrown.said }
    }
    return undefined
  }

  test('an error in a chunk', () => {
    expect(refused([{ error }])).toMatchObject({ message: 'overloaded', said: error })
    expect(refused([{ ...chunkOf({ content: '' }, { finish_reason: 'error' }), error }]).said).toEqual(error)
  })

  test('an error that is only text', () => {
    expect(refused([{ error: 'overloaded' }])).toMatchObject({ message: 'overloaded', said: { error: 'overloaded' } })
  })

  test('an error event of any form', () => {
    expect(told('error', JSON.stringify({ error }))).toEqual({ message: 'overloaded', said: error })
    expect(told('error', JSON.stringify(error))).toEqual({ message: 'overloaded', said: error })
    expect(told('message', JSON.stringify({ ...error, type: 'error' }))?.said).toEqual({ ...error, type: 'error' })
    expect(told('error', 'overloaded')?.said).toEqual({ message: 'overloaded' })
    expect(told('error', '')).toEqual({ message: 'the upstream reported an error', said: undefined })
  })

  test('data that is not a JSON object', () => {
    for (const data of ['{"choices":[', 'hello', 'null', '7', '"x"', '[]']) {
      expect(refused([data])).toMatchObject({ message: expect.stringContaining('not'), said: undefined })
    }
  })
})

describe('there are bounds', () => {
  const indices = ['-1', '128', '1.5', '"0"', '1e9', 'true', '{}', '[]']

  test('choices are counted from 0 to 127', () => {
    for (const index of indices) refused([`{"choices":[{"index":${index},"delta":{"content":"x"}}]}`])
    expect(resultOf([chunkOf({}, { index: 127 })]).choices).toHaveLength(1)
    expect(resultOf(['{"choices":[{"index":1.0}]}']).choices[0].index).toBe(1)
  })

  test('tool calls are counted from 0 to 127', () => {
    for (const index of indices) refused([`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":${index}}]}}]}`])
    const call = (id: number) => ({ id: `call_${id}`, function: { name: 'f', arguments: '{}' } })
    const full = Array.from({ length: 128 }, (_, at) => call(at))
    expect(resultOf([chunkOf({ tool_calls: full })]).choices[0].message.tool_calls).toHaveLength(128)
    refused([chunkOf({ tool_calls: [...full, call(128)] })])
  })

  test('what is kept has a limit, whatever it is made of', () => {
    const text = 'é'.repeat(50)
    const deltas: readonly object[] = [
      { content: text },
      { reasoning_content: text },
      { refusal: text },
      { unknown: text },
      { list: [text] },
      { tool_calls: [{ index: 0, function: { name: 'f', arguments: text } }] },
      { tool_calls: [{ index: 0, custom: { name: 'f', input: text } }] },
      { function_call: { name: 'f', arguments: text } },
      { audio: { data: text } },
    ]
    for (const delta of deltas) {
      const fifty = Array.from({ length: 50 }, () => chunkOf(delta))
      assemblyOf(fifty, { maxBytes: 6500 })
      expect(refused(fifty, { maxBytes: 4500 }).message).toContain('4500 bytes')
    }
    const logprobs = Array.from({ length: 50 }, () => chunkOf({}, { logprobs: { content: [{ token: text }] } }))
    refused(logprobs, { maxBytes: 4500 })
    refused([Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key-${at}`, at]))], { maxBytes: 4500 })
  })

  test('what is replaced does not count', () => {
    const last = (at: number) => ({
      ...chunkOf({}, { seen: `${at}`.repeat(50) }),
      usage: { total_tokens: at },
      x: [at],
    })
    assemblyOf(
      Array.from({ length: 1000 }, (_, at) => last(at)),
      { maxBytes: 1000 },
    )
  })

  test('nesting has a limit', () => {
    const nested = (levels: number) => `{"choices":[],"x":${'['.repeat(levels)}${']'.repeat(levels)}}`
    assemblyOf([nested(60)])
    refused([nested(70)])
    refused([nested(200_000)])
  })
})
