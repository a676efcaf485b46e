import { describe, expect, test } from 'bun:test'
import { FieldProblem } from '../../plugins/shared/field-problem.ts'
import { addressesIn, block, idsIn, rejectionOf } from './media-requests.ts'

const message = (message: object) => ({ model: 'm', messages: [message] })
const item = (item: unknown) => ({ model: 'm', input: [item] })
const image = (url: string) => block({ type: 'image_url', image_url: { url } })

describe('an asset URL is found in every field that an upstream may read', () => {
  const found: readonly (readonly [param: string, request: unknown])[] = [
    ['messages[0].content[0].image_url.url', image('asset://x')],
    ['messages[0].content[0].image_url', block({ type: 'image_url', image_url: 'asset://x' })],
    [
      'messages[0].content[0].image_url.src',
      block({ type: 'image_url', image_url: { url: 'https://a', src: 'asset://x' } }),
    ],
    ['messages[0].content[0].image_url.text', block({ type: 'image_url', image_url: { text: 'asset://x' } })],
    ['messages[0].content[0].image_url.a.b.name', block({ image_url: { a: { b: { name: 'asset://x' } } } })],
    ['messages[0].content[0].video_url.url', block({ type: 'video_url', video_url: { url: 'asset://x' } })],
    ['messages[0].content[0].video[1]', block({ type: 'video', video: ['https://a/1.png', 'asset://x'] })],
    ['messages[0].content[0].video.frames[0]', block({ type: 'video', video: { frames: ['asset://x'] } })],
    ['messages[0].content[0].video.frames[0].content', block({ video: { frames: [{ content: 'asset://x' }] } })],
    ['messages[0].content[0].video.asset://x', block({ type: 'video', video: { 'asset://x': 1.5 } })],
    ['messages[0].content[0].hologram.at[0][0]', block({ type: 'hologram', hologram: { at: [['asset://x']] } })],
    ['messages[0].content[0].file.file_data', block({ type: 'file', file: { file_data: 'asset://x' } })],
    ['messages[0].content[0].input_audio.data', block({ type: 'input_audio', input_audio: { data: 'asset://x' } })],
    ['messages[0].content[0]', block('asset://x')],
    ['messages[0].content[0]', block({ type: 'image_url', text: 'asset://x' })],
    ['messages[0].content[0]', block({ content: 'asset://x', type: 'image' })],
    ['messages[0].content[0]', block({ source: { name: 'asset://x' }, type: 'input_Video' })],
    [
      'messages[0].content[0].content[0].image_url',
      block({ type: 'tool_result', content: [{ image_url: 'asset://x' }] }),
    ],
    ['messages[0].content[0].image_url.url', block({ type: 'text', text: 'hi', image_url: { url: 'asset://x' } })],
    ['messages[0]', message({ role: 'user', content: 'asset://x', content_type: 'image' })],
    ['messages[0].content[0]', block({ text: 'asset://x', mime_type: 'video/mp4' })],
    ['messages[0].content[0]', block({ Type: 'image', text: 'asset://x' })],
    ['input[0]', item({ type: 'input_image', text: 'asset://x' })],
    ['messages[0].image_url', message({ role: 'user', content: 'hi', image_url: 'asset://x' })],
    ['messages[0].content.url', message({ role: 'user', content: { url: 'asset://x' } })],
    ['messages[0].content.text[0]', message({ role: 'user', content: { text: ['asset://x'] } })],
    ['messages[0].metadata.url', message({ role: 'user', content: 'hi', metadata: { url: 'asset://x' } })],
    ['extra.reference', { ...message({ role: 'user', content: 'hi' }), extra: { reference: 'asset://x' } }],
    ['parameters.image', { ...message({ role: 'user', content: 'hi' }), parameters: { image: 'asset://x' } }],
    ['image', { ...message({ role: 'user', content: 'hi' }), image: 'asset://x' }],
    ['images[0].name', { ...message({ role: 'user', content: 'hi' }), images: [{ name: 'asset://x' }] }],
    ['model', { model: 'asset://x' }],
    [
      'input[0].content[0].image_url',
      item({ role: 'user', content: [{ type: 'input_image', image_url: 'asset://x' }] }),
    ],
    ['input[0].image_url', item({ type: 'input_image', image_url: 'asset://x' })],
    ['input[0].output.image_url', item({ type: 'computer_call_output', output: { image_url: 'asset://x' } })],
    ['input[0].output[0].file_url', item({ type: 'function_call_output', output: [{ file_url: 'asset://x' }] })],
    ['input[0].id', item({ type: 'item_reference', id: 'asset://x' })],
    ['input[0].result', item({ type: 'image_generation_call', result: 'asset://x' })],
    ['input[0]', item('asset://x')],
    ['input.image', { model: 'm', input: { image: 'asset://x' } }],
    ['prompt.variables.who.image_url', { model: 'm', prompt: { variables: { who: { image_url: 'asset://x' } } } }],
    [
      'tools[0].input_image_mask.image_url',
      { tools: [{ type: 'image_generation', input_image_mask: { image_url: 'asset://x' } }] },
    ],
    ['tools[0].parameters.image_url', { tools: [{ type: 'hosted', parameters: { image_url: 'asset://x' } }] }],
  ]

  for (const [param, request] of found) {
    test(`${param}: ${JSON.stringify(request)}`, () => {
      expect(addressesIn(request)).toEqual([[param, 'x']])
    })
  }

  test('both values of a duplicate key are checked', () => {
    const text = '{"image_url":{"url":"asset://a","url":"asset://b"},"image_url":{"url":"asset://c"}}'
    expect(addressesIn(text)).toEqual([
      ['image_url.url', 'a'],
      ['image_url.url', 'b'],
      ['image_url.url', 'c'],
    ])
  })

  test('a duplicate type counts as media if either value is', () => {
    for (const types of ['"type":"text","type":"image"', '"type":"image","type":"text"']) {
      expect(idsIn(`{"messages":[{"content":[{${types},"text":"asset://x"}]}]}`)).toEqual(['x'])
    }
  })

  test('each id is reported once, at its first position', () => {
    expect(addressesIn(block({ video: ['asset://a', 'asset://b', 'asset://a'] }))).toEqual([
      ['messages[0].content[0].video[0]', 'a'],
      ['messages[0].content[0].video[1]', 'b'],
    ])
  })

  test('more than 8 MiB of URLs are rejected, without counting content', () => {
    const url = (nth: number) => `https://files.example/${nth}/${'x'.repeat(16_000)}`
    const request = (count: number) => block({ video: Array.from({ length: count }, (_, nth) => url(nth)) })
    expect(idsIn(request(500))).toEqual([])
    expect(() => idsIn(request(600))).toThrow(expect.objectContaining({ status: 400 }))
    expect(idsIn(block({ video: Array(600).fill(`data:image/png;base64,${'A'.repeat(16_000)}`) }))).toEqual([])
    expect(idsIn(block({ video: Array(600).fill(`iVBORw0KGgo=`.replace('=', 'A'.repeat(70_001))) }))).toEqual([])
  })

  test('more than 1,000 different ids are rejected', () => {
    const request = (count: number) => block({ video: Array.from({ length: count }, (_, nth) => `asset://${nth}`) })
    expect(idsIn(request(1000))).toHaveLength(1000)
    const param = 'messages[0].content[0].video[1000]'
    expect(() => idsIn(request(1001))).toThrow(expect.objectContaining({ status: 400, param }))
    expect(() => idsIn(request(1001))).toThrow(FieldProblem)
  })
})

describe('an asset URL is recognized in every spelling', () => {
  const spellings: readonly (readonly [url: string, id: string])[] = [
    ['asset:x', 'x'],
    ['asset:/x', 'x'],
    ['asset:///x', '/x'],
    ['ASSET://x', 'x'],
    ['aSsEt://X', 'X'],
    ['a\u017fset://x', 'x'],
    ['  \t\r\n asset://x', 'x'],
    ['\0\u0001\u001fasset://x', 'x'],
    ['\ufeff\u200b\u00a0\u2028asset://x', 'x'],
    ['as\tse\nt\r:\t/\n/x', 'x'],
    ['a\u200bs\u00adset://x', 'x'],
    ['"asset://x', 'x'],
    ['<asset://x', 'x'],
    ['@asset://x', 'x'],
    ['asset://', ''],
    ['asset:', ''],
    ['asset://x/', 'x/'],
    ['asset://x?y', 'x?y'],
    ['asset://x#y', 'x#y'],
    ['asset://%78', '%78'],
    ['asset://own@x', 'own@x'],
    ['asset://x ', 'x '],
    ['asset:// x', ' x'],
    ['asset:\\\\x', '\\\\x'],
    ['asset://x,asset://y', 'x,asset://y'],
  ]

  for (const [url, id] of spellings) {
    test(`${JSON.stringify(url)} names ${JSON.stringify(id)} outside media fields, and is rejected in them`, () => {
      expect(idsIn({ reference: url })).toEqual([id])
      expect(rejectionOf(image(url))).toEqual([400, 'messages[0].content[0].image_url.url'])
    })
  }

  test('with any number of special characters before or inside', () => {
    for (const sign of [' ', '.', '\t', '\u00a0', '\u200b', '“']) {
      expect(idsIn({ reference: `${sign.repeat(1000)}asset://x` })).toEqual(['x'])
      expect(idsIn({ comment: `${sign.repeat(1000)}see asset://x` })).toEqual([])
    }
    for (const gap of ['\t', '\u00a0', '\u200b'])
      expect(idsIn({ reference: `as${gap.repeat(1000)}set://x` })).toEqual(['x'])
  })

  const written: readonly string[] = [
    '"\\u0061sset://x"',
    '"asset\\u003a//x"',
    '"asset:\\/\\/x"',
    '"\\u0041\\u0053\\u0053\\u0045\\u0054\\u003A\\u002F\\u002f\\u0078"',
    '"a\\u017Fset://x"',
    '"\\t\\nasset://x"',
    '"a\\ts\\rs\\ne\\bt\\f://x"',
    '"\\u0000asset://x"',
    '"\\"asset://x"',
  ]

  for (const url of written) {
    test(`${url} inside JSON names an asset`, () => {
      const inBlock = rejectionOf(`{"messages":[{"content":[{"image_url":{"url":${url}}}]}]}`)
      expect(inBlock).toEqual(JSON.parse(url) === 'asset://x' ? ['x'] : [400, 'messages[0].content[0].image_url.url'])
      expect(idsIn(`{"reference":${url}}`)).toEqual(['x'])
      expect(idsIn(`{${url}:1}`)).toEqual(['x'])
    })
  }

  test('escaped keys are recognized', () => {
    expect(addressesIn('{"image\\u005furl":{"\\u0074ext":"asset://x"}}')).toEqual([['image_url.text', 'x']])
    expect(idsIn('{"messages":[{"content":[{"type":"text","t\\u0065xt":"asset://x"}]}]}')).toEqual([])
    expect(idsIn('{"messages":[{"content":[{"\\u0074ype":"\\u0069mage","text":"asset://x"}]}]}')).toEqual(['x'])
  })
})

describe('ordinary text may mention an asset URL', () => {
  const mention = 'asset://x'
  const schema = {
    type: 'object',
    title: mention,
    description: mention,
    properties: {
      image_url: {
        type: 'string',
        description: mention,
        default: mention,
        examples: [mention],
        enum: [mention],
        pattern: '^asset://[a-z]+$',
      },
      video: { const: { url: mention }, example: { image: { url: mention } } },
      [mention]: { type: 'string' },
    },
  }
  const tool = { type: 'function', function: { name: mention, description: mention, parameters: schema } }
  const texts: readonly unknown[] = [
    message({ role: 'user', content: mention, name: mention }),
    message({ role: 'tool', content: mention, tool_call_id: 'c' }),
    message({ role: 'assistant', content: null, refusal: mention, reasoning_content: mention, reasoning: mention }),
    message({ role: 'assistant', tool_calls: [{ id: 'c', function: { name: mention, arguments: mention } }] }),
    message({ role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: mention } }] }),
    message({ role: 'assistant', function_call: { name: 'f', arguments: mention } }),
    block({ type: 'text', text: mention }),
    block({ text: mention, type: 'text' }),
    block({ type: 'refusal', refusal: mention }),
    block({ type: 'hologram', text: mention }),
    block({ type: 'thinking', thinking: mention }),
    block({ type: 'tool_result', content: mention }),
    { ...message({ role: 'user', content: 'x' }), tools: [tool], functions: [tool.function] },
    { response_format: { type: 'json_schema', json_schema: { name: mention, description: mention, schema } } },
    { metadata: { url: mention, [mention]: mention }, stop: [mention], user: mention },
    block({ type: 'image_url', image_url: { url: 'https://a/b.png', text: 'see asset://x' } }),
    { stop: mention, prompt_cache_key: mention, safety_identifier: mention, prediction: { content: mention } },
    { model: 'm', input: mention, instructions: mention },
    item({ role: 'user', content: mention }),
    item({ role: 'user', text: mention }),
    item({ role: 'user', content: [{ type: 'input_text', text: mention }] }),
    item({ role: 'assistant', content: [{ type: 'output_text', text: mention, annotations: [{ title: mention }] }] }),
    item({ type: 'function_call', name: mention, arguments: mention }),
    item({ type: 'function_call_output', output: mention }),
    item({ type: 'function_call_output', output: [{ type: 'input_text', text: mention }] }),
    item({ type: 'custom_tool_call', input: mention }),
    item({ type: 'reasoning', summary: [{ type: 'summary_text', text: mention }] }),
    item({ type: 'file_search_call', results: [{ text: mention }] }),
    item({ type: 'mcp_list_tools', tools: [{ name: 'f', description: mention, input_schema: schema }] }),
    { tools: [{ type: 'function', name: mention, description: mention, parameters: schema }] },
    { text: { format: { type: 'json_schema', name: mention, description: mention, schema } } },
  ]

  for (const request of texts) {
    test(JSON.stringify(request), () => {
      expect(idsIn(request)).toEqual([])
    })
  }

  test('also beside an image', () => {
    const request = message({
      role: 'user',
      content: [
        { type: 'text', text: 'asset://a' },
        { type: 'image_url', image_url: { url: 'asset://x' } },
        { type: 'text', text: 'asset://b' },
      ],
    })
    expect(idsIn(request)).toEqual(['x'])
  })
})

test('outside media fields a preceding word makes it ordinary text', () => {
  expect(idsIn({ comment: 'see asset://x' })).toEqual([])
})
