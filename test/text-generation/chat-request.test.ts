import { describe, expect, test } from 'bun:test'
import { readJson, toJson } from '../../plugins/shared/json/json.ts'
import { call, refusal } from './chat-requests.ts'
import { checkChatRequest } from './in-one-step.ts'

const user = { role: 'user', content: 'hello' }
const minimal = { model: 'm', messages: [user] }
const withMessage = (message: unknown) => ({ ...minimal, messages: [user, message] })
const withContent = (content: unknown) => withMessage({ role: 'user', content })
const withBlock = (block: unknown) => withContent([{ type: 'text', text: 'look' }, block])

describe('an invalid request is rejected with the JSON path of the parameter', () => {
  const rejected: readonly (readonly [param: string, request: unknown])[] = [
    ['model', { messages: [user] }],
    ['model', { ...minimal, model: null }],
    ['model', { ...minimal, model: '' }],
    ['model', { ...minimal, model: 1 }],
    ['model', { ...minimal, model: ['m'] }],
    ['model', { ...minimal, model: 'm'.repeat(257) }],
    ['messages', { model: 'm' }],
    ['messages', { ...minimal, messages: null }],
    ['messages', { ...minimal, messages: [] }],
    ['messages', { ...minimal, messages: 'hello' }],
    ['messages', { ...minimal, messages: user }],
    ['messages[1]', withMessage('hello')],
    ['messages[1]', withMessage(null)],
    ['messages[1]', withMessage([user])],
    ['messages[1].role', withMessage({ content: 'x' })],
    ['messages[1].role', withMessage({ role: null, content: 'x' })],
    ['messages[1].role', withMessage({ role: 'User', content: 'x' })],
    ['messages[1].role', withMessage({ role: 'critic', content: 'x' })],
    ['messages[1].role', withMessage({ role: 7, content: 'x' })],
    ['messages[1].role', withMessage({ role: ['user'], content: 'x' })],
    ['messages[1].tool_call_id', withMessage({ role: 'tool', content: 'x' })],
    ['messages[1].tool_call_id', withMessage({ role: 'tool', content: 'x', tool_call_id: null })],
    ['messages[1].tool_call_id', withMessage({ role: 'tool', content: 'x', tool_call_id: '' })],
    ['messages[1].tool_call_id', withMessage({ role: 'tool', content: 'x', tool_call_id: 3 })],
    ['messages[1].content', withMessage({ role: 'user' })],
    ['messages[1].content', withContent(null)],
    ['messages[1].content', withContent(5)],
    ['messages[1].content', withContent({ type: 'text', text: 'x' })],
    ['messages[1].content', withMessage({ role: 'user', tool_calls: [call] })],
    ['messages[1].content', withMessage({ role: 'tool', tool_call_id: 'c', content: null })],
    ['messages[1].content', withMessage({ role: 'assistant' })],
    ['messages[1].content', withMessage({ role: 'assistant', content: null })],
    ['messages[1].content', withMessage({ role: 'assistant', content: null, tool_calls: null })],
    ['messages[1].content', withMessage({ role: 'assistant', content: null, tool_calls: [] })],
    ['messages[1].content', withMessage({ role: 'assistant', content: 5, tool_calls: [call] })],
    ['messages[1].content[1]', withBlock('look')],
    ['messages[1].content[1]', withBlock(null)],
    ['messages[1].content[1].type', withBlock({ text: 'x' })],
    ['messages[1].content[1].type', withBlock({ type: 5, text: 'x' })],
    ['messages[1].content[1].type', withBlock({ type: null, text: 'x' })],
    ['messages[1].content[1].text', withBlock({ type: 'text' })],
    ['messages[1].content[1].text', withBlock({ type: 'text', text: null })],
    ['messages[1].content[1].text', withBlock({ type: 'text', text: ['x'] })],
    ['messages[1].content[1].image_url', withBlock({ type: 'image_url' })],
    ['messages[1].content[1].image_url', withBlock({ type: 'image_url', image_url: 'https://a/b.png' })],
    ['messages[1].content[1].image_url.url', withBlock({ type: 'image_url', image_url: {} })],
    ['messages[1].content[1].image_url.url', withBlock({ type: 'image_url', image_url: { url: null } })],
    ['messages[1].content[1].image_url.url', withBlock({ type: 'image_url', image_url: { url: 1 } })],
    ['messages[1].content[1].video_url', withBlock({ type: 'video_url' })],
    ['messages[1].content[1].video_url', withBlock({ type: 'video_url', video_url: ['https://a/b.mp4'] })],
    ['messages[1].content[1].video_url.url', withBlock({ type: 'video_url', video_url: { url: true } })],
    ['messages[1].content[1].video', withBlock({ type: 'video' })],
    ['messages[1].content[1].video', withBlock({ type: 'video', video: [] })],
    ['messages[1].content[1].video', withBlock({ type: 'video', video: 'https://a/b.png' })],
    ['messages[1].content[1].video', withBlock({ type: 'video', video: { frames: ['https://a/b.png'] } })],
    ['messages[1].content[1].video[1]', withBlock({ type: 'video', video: ['https://a/b.png', null] })],
    ['stream', { ...minimal, stream: 'true' }],
    ['stream', { ...minimal, stream: 1 }],
    ['max_tokens', { ...minimal, max_tokens: 0 }],
    ['max_tokens', { ...minimal, max_tokens: -2 }],
    ['max_tokens', { ...minimal, max_tokens: 1.5 }],
    ['max_tokens', { ...minimal, max_tokens: '100' }],
    ['max_tokens', { ...minimal, max_tokens: true }],
    ['max_tokens', { ...minimal, max_tokens: [1] }],
    ['max_tokens', '{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":1e400}'],
    ['temperature', { ...minimal, temperature: -0.1 }],
    ['temperature', { ...minimal, temperature: 2.1 }],
    ['temperature', { ...minimal, temperature: '1' }],
    ['temperature', { ...minimal, temperature: [1] }],
    ['top_p', { ...minimal, top_p: -0.1 }],
    ['top_p', { ...minimal, top_p: 1.1 }],
    ['top_p', { ...minimal, top_p: false }],
    ['tools', { ...minimal, tools: {} }],
    ['tools', { ...minimal, tools: 'f' }],
    ['response_format', { ...minimal, response_format: 'json_object' }],
    ['response_format', { ...minimal, response_format: [] }],
    ['response_format.type', { ...minimal, response_format: {} }],
    ['response_format.type', { ...minimal, response_format: { type: 5 } }],
    ['stream_options', { ...minimal, stream: true, stream_options: true }],
  ]

  for (const [param, request] of rejected) {
    test(`${param}: ${typeof request === 'string' ? request : JSON.stringify(request)}`, () => {
      const problem = refusal(request)
      expect([problem.status, problem.param]).toEqual([400, param])
      expect(problem.message.startsWith(`${param} `)).toBeTrue()
    })
  }

  test('the error names the first violation in the documented order', () => {
    const all = { messages: [], stream: 1, max_tokens: 0, temperature: 9, top_p: 9, tools: 1, response_format: 1 }
    const order = ['model', 'messages', 'stream', 'max_tokens', 'temperature', 'top_p', 'tools', 'response_format']
    const repaired: Record<string, unknown> = { ...all }
    for (const key of order) {
      expect(refusal(repaired).param).toBe(key)
      repaired[key] = key === 'model' ? 'm' : key === 'messages' ? [user] : null
    }
  })

  test('the temperature range is that of the model, and the error contains it', () => {
    const warm = { ...minimal, temperature: 1.5 }
    expect(checkChatRequest(toJson(warm)).model).toBe('m')
    expect(refusal(warm, { maxTemperature: 1 }).message).toBe('temperature must be a number from 0 to 1')
    expect(refusal({ ...minimal, temperature: 3 }).message).toBe('temperature must be a number from 0 to 2')
  })
})

describe('documented parameters and those that client libraries add pass', () => {
  const accepted: readonly unknown[] = [
    minimal,
    withMessage({ role: 'system', content: 'be kind' }),
    withMessage({ role: 'developer', content: 'be kind' }),
    withMessage({ role: 'function', name: 'f', content: '1' }),
    withMessage({ role: 'tool', content: '1', tool_call_id: 'c' }),
    withMessage({ role: 'assistant', content: 'hi' }),
    withMessage({ role: 'assistant', tool_calls: [call] }),
    withMessage({ role: 'assistant', content: null, tool_calls: [call] }),
    withMessage({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }),
    withMessage({ role: 'assistant', content: null, refusal: 'no' }),
    withMessage({ role: 'assistant', audio: { id: 'a' } }),
    withMessage({ role: 'user', content: 'x', tool_call_id: 5 }),
    withContent(''),
    withContent([]),
    withBlock({ type: 'text', text: '' }),
    withBlock({ type: 'image_url', image_url: { url: 'https://a/b.png', detail: 'low' } }),
    withBlock({ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }),
    withBlock({ type: 'video', video: ['https://a/1.png'], fps: 2 }),
    withBlock({ type: 'refusal', refusal: 'no' }),
    withBlock({ type: 'input_audio', input_audio: { data: '', format: 'wav' } }),
    withBlock({ type: 'file', file: { file_id: 'f' } }),
    withBlock({ type: 'hologram', hologram: 5, text: 7, image_url: 9 }),
    withBlock({ type: 'constructor' }),
    { ...minimal, max_tokens: 1, temperature: 0, top_p: 0 },
    { ...minimal, max_tokens: -1, max_completion_tokens: -1 },
    { ...minimal, max_tokens: 1e9, temperature: 2, top_p: 1 },
    { ...minimal, tools: [], response_format: { type: 'json_object' } },
    { ...minimal, unheard_of: { deep: [1, null] }, max_completion_tokens: 'x', presence_penalty: -5 },
    {
      ...minimal,
      ...{ stream: null, max_tokens: null, temperature: null, top_p: null, tools: null, response_format: null },
      stream_options: null,
    },
  ]

  for (const request of accepted) {
    test(JSON.stringify(request), () => {
      expect(checkChatRequest(toJson(request))).toEqual({ model: 'm', stream: false, includeUsage: false })
    })
  }

  for (const number of ['4096.0', '1e3', '40960e-1', '12345678901234567890']) {
    test(`${number} is an integer`, () => {
      const text = `{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":${number}}`
      expect(checkChatRequest(readJson(text)).model).toBe('m')
    })
  }
})

describe('the parsed request contains', () => {
  test('the model, decoded', () => {
    expect(checkChatRequest(readJson(JSON.stringify(minimal).replace('"m"', '"\\u006d/\\"x\\""'))).model).toBe('m/"x"')
  })

  test('whether to stream, and whether usage is requested', () => {
    const read = (more: object) => {
      const { stream, includeUsage } = checkChatRequest(toJson({ ...minimal, ...more }))
      return [stream, includeUsage]
    }
    expect(read({ stream: true })).toEqual([true, false])
    expect(read({ stream: false })).toEqual([false, false])
    expect(read({ stream: true, stream_options: { include_usage: true } })).toEqual([true, true])
    expect(read({ stream: true, stream_options: { include_usage: false } })).toEqual([true, false])
    expect(read({ stream: true, stream_options: { include_usage: 1 } })).toEqual([true, false])
    expect(read({ stream_options: { include_usage: true } })).toEqual([false, true])
  })
})

describe('a field that the gateway uses may occur only once', () => {
  const message = '{"role":"user","content":"x"}'
  const request = (more: string) => `{"model":"m","messages":[${message}],${more}}`
  const content = (block: string) => `{"model":"m","messages":[{"role":"user","content":[${block}]}]}`
  const repeated: readonly (readonly [param: string, text: string])[] = [
    ['model', request('"model":"m"')],
    ['model', request('"mod\\u0065l":"m"')],
    ['messages', request(`"messages":[${message}]`)],
    ['stream', request('"stream":true,"stream":false')],
    ['stream', request('"stream":null,"stream":true')],
    ['max_tokens', request('"max_tokens":1,"max_tokens":2')],
    ['max_completion_tokens', request('"max_completion_tokens":1,"max_completion_tokens":2')],
    ['temperature', request('"temperature":1,"temperature":1')],
    ['top_p', request('"top_p":1,"top_p":1')],
    ['tools', request('"tools":[],"tools":[]')],
    ['response_format', request('"response_format":null,"response_format":null')],
    ['response_format.type', request('"response_format":{"type":"text","type":"json_object"}')],
    ['stream_options', request('"stream_options":{},"stream_options":{}')],
    ['stream_options.include_usage', request('"stream_options":{"include_usage":true,"include_usage":false}')],
    ['messages[0].role', '{"model":"m","messages":[{"role":"system","content":"x","role":"user"}]}'],
    ['messages[0].content', '{"model":"m","messages":[{"role":"user","content":"x","content":[]}]}'],
    [
      'messages[0].tool_call_id',
      '{"model":"m","messages":[{"role":"tool","content":"x","tool_call_id":"a","tool_call_id":"b"}]}',
    ],
    ['messages[0].tool_calls', '{"model":"m","messages":[{"role":"assistant","tool_calls":[1],"tool_calls":[]}]}'],
    ['messages[0].content[0].type', content('{"type":"text","text":"x","type":"image_url"}')],
    ['messages[0].content[0].text', content('{"type":"text","text":"x","text":"y"}')],
    ['messages[0].content[0].image_url', content('{"type":"image_url","image_url":{"url":"x"},"image_url":{}}')],
    ['messages[0].content[0].image_url.url', content('{"type":"image_url","image_url":{"url":"x","url":"y"}}')],
    ['messages[0].content[0].video_url.url', content('{"type":"video_url","video_url":{"url":"x","\\u0075rl":"y"}}')],
    ['messages[0].content[0].video', content('{"type":"video","video":["x"],"video":["y"]}')],
  ]

  for (const [param, text] of repeated) {
    test(`${param}: ${text}`, () => {
      const problem = refusal(text)
      expect([problem.param, problem.message]).toEqual([param, `${param} is given more than once`])
    })
  }

  test('other fields may be duplicate', () => {
    expect(checkChatRequest(readJson(request('"seed":1,"seed":2,"Model":"n"'))).model).toBe('m')
  })
})
