import { describe, expect, test } from 'bun:test'
import { type ChatAssemblyOptions, createChatAssembly } from '../../plugins/text-generation/chat/assembly.ts'
import { type Assembly, StreamError } from '../../plugins/text-generation/protocol/assembly.ts'
import { eventOf, streams } from './chat-assembly-streams.ts'

/** An assembly with some chunks, a fixed time and sequential ids. */
const assemblyOf = (chunks: readonly (object | string)[], options: Partial<ChatAssemblyOptions> = {}): Assembly => {
  let ids = 0
  const assembly = createChatAssembly({
    model: 'asked',
    clock: { now: () => 1_800_000_000_999 },
    newId: () => `${++ids}`,
    ...options,
  })
  for (const chunk of chunks) assembly.push(eventOf(chunk))
  return assembly
}

const resultOf = (chunks: readonly (object | string)[]) => JSON.parse(assemblyOf(chunks).result())

/** The error of a push. */
const rejected = (chunks: readonly (object | string)[], options?: Partial<ChatAssemblyOptions>): StreamError => {
  try {
    assemblyOf(chunks, options)
  } catch (error) {
    if (error instanceof StreamError) return error
    throw error
  }
  throw new Error('nothing was rejected')
}

const chunkOf = (delta: unknown, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] })

describe('a stream is assembled to the non-streaming completion', () => {
  test('the corpus has streams', () => {
    expect(Object.keys(streams).length).toBeGreaterThan(40)
  })

  for (const [name, { chunks, response }] of Object.entries(streams)) {
    test(name, () => {
      const assembly = assemblyOf([...chunks, '[DONE]'])
      expect(assembly.complete).toBe(true)
      const text = assembly.result()
      if (typeof response === 'string') expect(text).toBe(response)
      else expect(JSON.parse(text)).toStrictEqual(response)
      expect(JSON.parse(JSON.stringify(assembly.usage ?? null))).toEqual(JSON.parse(text).usage ?? null)
    })
  }

  test('known members come first, unknown ones last', () => {
    const { chunks } = streams['unknown members of chunks and choices'] ?? { chunks: [] }
    const response = resultOf([...chunks, { choices: [], usage: { total_tokens: 1 } }])
    expect(Object.keys(response).slice(0, 6)).toEqual(['id', 'object', 'created', 'model', 'choices', 'usage'])
    expect(Object.keys(response.choices[0]).slice(0, 4)).toEqual(['index', 'message', 'logprobs', 'finish_reason'])
    expect(Object.keys(response.choices[0].message).slice(0, 3)).toEqual(['role', 'content', 'refusal'])
  })

  test('no member of a chunk pollutes prototypes', () => {
    const { chunks } = streams['members with names such as __proto__'] ?? { chunks: [] }
    resultOf(chunks)
    expect('polluted' in {}).toBe(false)
    expect(`${{}}`).toBe('[object Object]')
  })

  test('the completion is the same each time it is requested', () => {
    const assembly = assemblyOf([
      chunkOf({ tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }, { finish_reason: 'stop' }),
    ])
    expect(assembly.result()).toBe(assembly.result())
    expect(JSON.parse(assembly.partial())).toEqual(JSON.parse(assembly.result()))
  })

  test('a text of 100,000 pieces is complete', () => {
    const assembly = assemblyOf([])
    const pieces = Array.from({ length: 100_000 }, (_, at) => `${at} `)
    for (const content of pieces) assembly.push(eventOf(chunkOf({ content })))
    expect(JSON.parse(assembly.partial()).choices[0].message.content).toBe(pieces.join(''))
  })
})

describe('missing members have defaults', () => {
  test('id, time and model of the completion', () => {
    expect(resultOf([chunkOf({ content: 'Hi' }, { finish_reason: 'stop' })])).toMatchObject({
      id: 'chatcmpl-1',
      created: 1_800_000_000,
      model: 'asked',
    })
  })

  test('unique ids of tool calls', () => {
    const call = { function: { name: 'f', arguments: '{"a":1}' } }
    const response = resultOf([chunkOf({ tool_calls: [call, { ...call, id: '' }, { ...call, id: null }] }), '[DONE]'])
    expect(response.choices[0].message.tool_calls).toEqual(
      ['call_2', 'call_3', 'call_4'].map((id) => ({ id, type: 'function', ...call })),
    )
  })

  test('ids are random by default', () => {
    const ids = [1, 2].map(() => JSON.parse(assemblyOf([], { newId: undefined }).partial()).id)
    expect(ids[0]).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
    expect(ids[0]).not.toBe(ids[1])
  })

  test('the type of a tool call', () => {
    const response = resultOf([
      chunkOf({
        tool_calls: [
          { index: 0, id: 'a', custom: { name: 'c' } },
          { index: 1, id: 'b', function: { name: 'f' } },
        ],
      }),
    ])
    expect(response.choices[0].message.tool_calls).toEqual([
      { id: 'a', type: 'custom', custom: { name: 'c', input: '' } },
      { id: 'b', type: 'function', function: { name: 'f', arguments: '' } },
    ])
  })

  test('a tool call of an unknown type is kept unchanged', () => {
    const call = { id: 'a', type: 'web_search', web_search: { query: 'q' } }
    expect(resultOf([chunkOf({ tool_calls: [{ index: 0, ...call }] })]).choices[0].message.tool_calls).toEqual([call])
  })
})

describe('a completion is complete when every choice has finished', () => {
  test('not before the first choice', () => {
    expect(assemblyOf([]).complete).toBe(false)
  })

  test('not after [DONE] alone', () => {
    expect(assemblyOf(['[DONE]']).complete).toBe(false)
    expect(assemblyOf([chunkOf({ content: 'Hi' }), '[DONE]']).complete).toBe(false)
  })

  test('also without [DONE]', () => {
    expect(assemblyOf([chunkOf({ content: 'Hi' }, { finish_reason: 'stop' })]).complete).toBe(true)
  })

  test('not while one of two choices is open', () => {
    const open = [chunkOf({}, { index: 1 }), chunkOf({}, { finish_reason: 'stop' })]
    expect(assemblyOf(open).complete).toBe(false)
    expect(assemblyOf([...open, chunkOf({}, { index: 1, finish_reason: 'stop' })]).complete).toBe(true)
  })

  test('an empty finish reason does not count', () => {
    expect(assemblyOf([chunkOf({ content: 'Hi' }, { finish_reason: '' })]).complete).toBe(false)
  })

  test('audio is unfinished while a part is missing or more follows', () => {
    const audio = { id: 'a', data: 'AQID', transcript: 'Hm' }
    const expiry = chunkOf({ audio: { expires_at: 1 } })
    expect(assemblyOf([chunkOf({ audio }), expiry]).complete).toBe(true)
    expect(assemblyOf([chunkOf({ audio: { ...audio, transcript: null } }), expiry]).complete).toBe(false)
    expect(assemblyOf([chunkOf({ audio }), expiry, chunkOf({ content: 'more' })]).complete).toBe(false)
    expect(assemblyOf([chunkOf({ audio: { ...audio, expires_at: 1 } })]).complete).toBe(false)
  })
})

describe('ignored data', () => {
  test('anything after [DONE]', () => {
    const late = ['[DONE]', chunkOf({ content: 'late' }), 'nonsense', { error: { message: 'late' } }]
    expect(JSON.parse(assemblyOf([chunkOf({ content: 'Hi' }), ...late]).partial()).choices[0].message.content).toBe(
      'Hi',
    )
  })

  test('empty data', () => {
    expect(assemblyOf(['', ' ', chunkOf({ content: 'Hi' }, { finish_reason: 'stop' })]).complete).toBe(true)
  })

  test('events with other names, unless their data are chunks', () => {
    const assembly = assemblyOf([chunkOf({ content: 'Hi' })])
    assembly.push({ type: 'ping', data: '{"type":"ping","content":"x"}' })
    assembly.push({ type: 'completion', data: JSON.stringify(chunkOf({ content: '!' }, { finish_reason: 'stop' })) })
    assembly.push({ type: 'usage', data: '{"usage":{"total_tokens":3}}' })
    const response = JSON.parse(assembly.result())
    expect(response).not.toHaveProperty('type')
    expect(response.choices[0].message.content).toBe('Hi!')
    expect(assembly.usage).toEqual({ total_tokens: 3 })
  })

  test('a falsy error', () => {
    expect(resultOf([{ ...chunkOf({ content: 'Hi' }), error: null }])).not.toHaveProperty('error')
  })
})

describe('an upstream error is thrown with its message', () => {
  const error = { message: 'overloaded', type: 'server_error', param: null, code: 503 }

  const told = (type: string, data: string) => {
    try {
      assemblyOf([]).push({ type, data })
    } catch (thrown) {
      if (thrown instanceof StreamError) return { message: thrown.message, upstreamError: thrown.upstreamError }
    }
    return undefined
  }

  test('an error in a chunk', () => {
    expect(rejected([{ error }])).toMatchObject({ message: 'overloaded', upstreamError: error })
    expect(rejected([{ ...chunkOf({ content: '' }, { finish_reason: 'error' }), error }]).upstreamError).toEqual(error)
  })

  test('an error that is a string', () => {
    expect(rejected([{ error: 'overloaded' }])).toMatchObject({
      message: 'overloaded',
      upstreamError: { error: 'overloaded' },
    })
  })

  test('an error event in any format', () => {
    expect(told('error', JSON.stringify({ error }))).toEqual({ message: 'overloaded', upstreamError: error })
    expect(told('error', JSON.stringify(error))).toEqual({ message: 'overloaded', upstreamError: error })
    expect(told('message', JSON.stringify({ ...error, type: 'error' }))?.upstreamError).toEqual({
      ...error,
      type: 'error',
    })
    expect(told('error', 'overloaded')?.upstreamError).toEqual({ message: 'overloaded' })
    expect(told('error', '')).toEqual({ message: 'the upstream reported an error', upstreamError: undefined })
  })

  test('data that is not a JSON object', () => {
    for (const data of ['{"choices":[', 'hello', 'null', '7', '"x"', '[]']) {
      expect(rejected([data])).toMatchObject({ message: expect.stringContaining('not'), upstreamError: undefined })
    }
  })
})

describe('limits', () => {
  const indices = ['-1', '128', '1.5', '"0"', '1e9', 'true', '{}', '[]']

  test('the index of a choice is 0 to 127', () => {
    for (const index of indices) rejected([`{"choices":[{"index":${index},"delta":{"content":"x"}}]}`])
    expect(resultOf([chunkOf({}, { index: 127 })]).choices).toHaveLength(1)
    expect(resultOf(['{"choices":[{"index":1.0}]}']).choices[0].index).toBe(1)
  })

  test('the index of a tool call is 0 to 127', () => {
    for (const index of indices) rejected([`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":${index}}]}}]}`])
    const call = (id: number) => ({ id: `call_${id}`, function: { name: 'f', arguments: '{}' } })
    const full = Array.from({ length: 128 }, (_, at) => call(at))
    expect(resultOf([chunkOf({ tool_calls: full })]).choices[0].message.tool_calls).toHaveLength(128)
    rejected([chunkOf({ tool_calls: [...full, call(128)] })])
  })

  test('the total size is limited', () => {
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
      expect(rejected(fifty, { maxBytes: 4500 }).message).toContain('4500 bytes')
    }
    const logprobs = Array.from({ length: 50 }, () => chunkOf({}, { logprobs: { content: [{ token: text }] } }))
    rejected(logprobs, { maxBytes: 4500 })
    rejected([Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key-${at}`, at]))], { maxBytes: 4500 })
  })

  test('replaced values do not count', () => {
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

  test('the depth is limited', () => {
    const nested = (levels: number) => `{"choices":[],"x":${'['.repeat(levels)}${']'.repeat(levels)}}`
    assemblyOf([nested(60)])
    rejected([nested(70)])
    rejected([nested(200_000)])
  })
})
