import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readJson, toJson } from '../../plugins/shared/json.ts'
import { assetAddresses } from '../../plugins/text-generation/asset-addresses.ts'
import { TextProblem } from '../../plugins/text-generation/problem.ts'

const addressesIn = (request: unknown) =>
  assetAddresses(typeof request === 'string' ? readJson(request) : toJson(request)).map(({ id, param }) => [param, id])
const idsIn = (request: unknown) => addressesIn(request).map(([, id]) => id)

const message = (message: object) => ({ model: 'm', messages: [message] })
const block = (block: unknown) => message({ role: 'user', content: [block] })
const item = (item: unknown) => ({ model: 'm', input: [item] })
const image = (url: string) => block({ type: 'image_url', image_url: { url } })

describe('an asset is found wherever an upstream may look for one', () => {
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

  test('of a key that stands twice, both values are looked at', () => {
    const text = '{"image_url":{"url":"asset://a","url":"asset://b"},"image_url":{"url":"asset://c"}}'
    expect(addressesIn(text)).toEqual([
      ['image_url.url', 'a'],
      ['image_url.url', 'b'],
      ['image_url.url', 'c'],
    ])
  })

  test('a type that stands twice is that of media if either is', () => {
    for (const types of ['"type":"text","type":"image"', '"type":"image","type":"text"']) {
      expect(idsIn(`{"messages":[{"content":[{${types},"text":"asset://x"}]}]}`)).toEqual(['x'])
    }
  })

  test('each id is told once, where it was met first', () => {
    expect(addressesIn(block({ video: ['asset://a', 'asset://b', 'asset://a'] }))).toEqual([
      ['messages[0].content[0].video[0]', 'a'],
      ['messages[0].content[0].video[1]', 'b'],
    ])
  })

  test('more than a thousand different ones are refused', () => {
    const request = (count: number) => block({ video: Array.from({ length: count }, (_, nth) => `asset://${nth}`) })
    expect(idsIn(request(1000))).toHaveLength(1000)
    const param = 'messages[0].content[0].video[1000]'
    expect(() => idsIn(request(1001))).toThrow(expect.objectContaining({ status: 400, param }))
    expect(() => idsIn(request(1001))).toThrow(TextProblem)
  })
})

describe('an address is known in every spelling', () => {
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
    ['https://a/b.png,asset://x', 'x'],
    ['https://a/b.png asset://x', 'x'],
    ['see\nasset://x', 'x'],
    ['<URL:asset://x', 'x'],
    ['url(asset://x)', 'x)'],
  ]

  for (const [url, id] of spellings) {
    test(`${JSON.stringify(url)} names ${JSON.stringify(id)}`, () => {
      expect(idsIn(image(url))).toEqual([id])
    })
  }

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
    test(`${url} in JSON is an address`, () => {
      expect(idsIn(`{"messages":[{"content":[{"image_url":{"url":${url}}}]}]}`)).toEqual(['x'])
      expect(idsIn(`{"reference":${url}}`)).toEqual(['x'])
      expect(idsIn(`{${url}:1}`)).toEqual(['x'])
    })
  }

  test('keys with escapes are the keys they stand for', () => {
    expect(addressesIn('{"image\\u005furl":{"\\u0074ext":"asset://x"}}')).toEqual([['image_url.text', 'x']])
    expect(idsIn('{"messages":[{"content":[{"type":"text","t\\u0065xt":"asset://x"}]}]}')).toEqual([])
    expect(idsIn('{"messages":[{"content":[{"\\u0074ype":"\\u0069mage","text":"asset://x"}]}]}')).toEqual(['x'])
  })
})

describe('text that mentions an asset is text', () => {
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

  test('text beside an image stays text', () => {
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

describe('other addresses are left alone', () => {
  const others: readonly string[] = [
    'https://a/b.png',
    'https://a/asset://x',
    'https://a/?u=asset://x',
    'https://asset:80/x',
    'http://a/asset:x',
    'data:image/png;base64,asset',
    'data:text/plain,asset://x',
    'assets://x',
    'my-asset://x',
    'asset',
    'asset-20260101-abc',
    '',
  ]
  for (const url of others) {
    test(JSON.stringify(url), () => {
      expect(idsIn(image(url))).toEqual([])
      // The walk comes to the same verdict as the quick look.
      expect(idsIn({ ...image(url), walk: '\u0001' })).toEqual([])
    })
  }

  test('a word in front makes a sentence of it where no media are expected', () => {
    expect(idsIn({ comment: 'see asset://x' })).toEqual([])
  })
})

const escaped = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`
/** A JSON string in which some characters are escaped that need not be. */
const writtenAs = (text: string, mask: readonly boolean[]) =>
  `"${[...Array(text.length).keys()]
    .map((nth) => {
      const char = text.charAt(nth)
      return mask[nth % mask.length] || char < ' ' || char === '"' || char === '\\'
        ? escaped(text.charCodeAt(nth))
        : char
    })
    .join('')}"`

const mask = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 })
const id = fc.stringMatching(/^[a-z0-9-]{1,8}$/)
const spelling = fc
  .tuple(
    fc.constantFrom('', ' ', '\t', '\0', '\u00a0', '"', '\u200b'),
    fc.array(fc.tuple(fc.boolean(), fc.constantFrom('', '', '', '\t', '\n', '\u200d')), { minLength: 6, maxLength: 6 }),
    fc.constantFrom('//', '/', ''),
  )
  .map(([before, letters, slashes]) => {
    const scheme = letters.map(([upper, gap], nth) => {
      const letter = 'asset:'.charAt(nth)
      return (upper ? letter.toUpperCase() : letter) + (nth < 5 ? gap : '')
    })
    return before + scheme.join('') + slashes
  })

const blank = fc.constantFrom('', ' ', '\n', '\t ')
const mediaKey = fc.constantFrom(
  'image_url',
  'video_url',
  'video',
  'url',
  'imageUrl',
  'input_image',
  'file',
  'frames',
  'images',
)
const anyKey = fc.oneof(mediaKey, fc.constantFrom('data', 'extra', 'x', 'type', 'a.b', '0', '__proto__', 'constructor'))
const filler = fc.constantFrom(
  'null',
  '1e400',
  '"asse"',
  '"\\\\"',
  '"\\""',
  '"]}"',
  '[]',
  '{}',
  '{"a":[1,{"b":"}"}]}',
  'true',
)

/** JSON text around a value, some levels deep. */
const wrapping = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('array' as const), before: fc.array(filler, { maxLength: 2 }), blank }),
    fc.record({
      kind: fc.constant('object' as const),
      key: anyKey,
      mask,
      before: fc.array(filler, { maxLength: 2 }),
      blank,
    }),
  ),
  { maxLength: 5 },
)
type Wrapping = typeof wrapping extends fc.Arbitrary<infer Value> ? Value : never
const wrap = (inner: string, levels: Wrapping) =>
  levels.reduce((text, level) => {
    const gap = level.blank
    const parts = level.before
    if (level.kind === 'array') return `[${[...parts, text].map((part) => gap + part + gap).join(',')}]`
    const members = parts.map((part, nth) => `"f${nth}"${gap}:${gap}${part}`)
    return `{${[...members, `${writtenAs(level.key, level.mask)}${gap}:${text}`].map((part) => gap + part + gap).join(',')}}`
  }, inner)

describe('no place and no spelling hides an address', () => {
  test('hidden in a random place of a block, in a random spelling, it is found', () => {
    fc.assert(
      fc.property(spelling, id, mask, wrapping, mediaKey, mask, (scheme, id, mask, levels, key, keyMask) => {
        const block = `{${writtenAs(key, keyMask)}:${wrap(writtenAs(scheme + id, mask), levels)}}`
        expect(idsIn(`{"messages":[{"role":"user","content":[${block}]}]}`)).toEqual([id])
        expect(idsIn(`{"input":[{"role":"user","content":[${block}]}]}`)).toEqual([id])
        expect(idsIn(`{"extra":${block}}`)).toEqual([id])
      }),
      { seed: 43, numRuns: 1000 },
    )
  })

  test('below a key for media no key is one for text', () => {
    const textKey = fc.constantFrom(
      'text',
      'content',
      'name',
      'title',
      'description',
      'input',
      'output',
      'metadata',
      'stop',
      'schema',
      'enum',
    )
    fc.assert(
      fc.property(mediaKey, fc.array(textKey, { minLength: 1, maxLength: 4 }), (key, below) => {
        const value = below.reduceRight<unknown>((inner, key) => ({ [key]: inner }), 'asset://x')
        expect(idsIn(block({ [key]: value }))).toEqual(['x'])
      }),
      { seed: 43, numRuns: 300 },
    )
  })

  test('in text it is never found, whatever the text', () => {
    const text = fc.tuple(spelling, fc.string({ unit: 'binary', maxLength: 12 })).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, mask, (text, mask) => {
        const written = writtenAs(text, mask)
        expect(idsIn(`{"messages":[{"content":${written}},{"content":[{"type":"text","text":${written}}]}]}`)).toEqual(
          [],
        )
        expect(idsIn(`{"input":${written},"instructions":${written}}`)).toEqual([])
        expect(idsIn(`{"input":[{"content":[{"text":${written},"type":"input_text"}]}]}`)).toEqual([])
      }),
      { seed: 43, numRuns: 500 },
    )
  })

  test('whatever JSON comes, the search comes to its end', () => {
    fc.assert(
      fc.property(wrapping, fc.json(), (levels, inner) => {
        // An escape, so that the search is not spared.
        const text = `{"a":${wrap(inner, levels)},"last":{"url":"\\u0061sset:end"}}`
        expect(idsIn(text).at(-1)).toBe('end')
      }),
      { seed: 43, numRuns: 1000 },
    )
  })
})
