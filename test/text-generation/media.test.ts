import { describe, expect, test } from 'bun:test'
import type { OwnedAsset, Ownership } from '../../plugins/ownership/index.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { chunk, openApp, streaming } from './fixture.ts'
import { block, mediaRequests, part } from './media-requests.ts'

const own = 'asset-20260318071009-mine0'
const foreign = 'asset-20260318071009-hers0'
const preset = 'asset-20260101000000-preset'

/** The plugin with a caller who owns one asset. Records the checked ids. */
const openMedia = (presetAssets?: readonly string[], allowedFields?: readonly string[]) => {
  const questions: string[] = []
  const assets: Pick<Ownership, 'asset'> = {
    asset: async (_user: string, id: string) => {
      questions.push(id)
      if (id === own) return { id, evidence: undefined } as OwnedAsset<unknown>
      throw new Problem(403, 'asset not found in your asset group')
    },
  }
  const response = () => streaming([chunk({ role: 'assistant', content: 'x' }, 'stop'), '[DONE]'])
  return { ...openApp(response, { assets, presetAssets, allowedFields }), questions }
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const jpeg = `/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP${'/'.repeat(86)}wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==`
const gif = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
const mp4 = Buffer.concat([Uint8Array.of(0, 0, 0, 32), Buffer.from('ftypisom'), new Uint8Array(64)]).toString('base64')
const webp = Buffer.concat([Buffer.from('RIFFxxxxWEBPVP8 '), new Uint8Array(32)]).toString('base64')

describe('in every media field', () => {
  const allowed: readonly string[] = [
    'https://files.example/a.png',
    'http://files.example:8080/a.png?X-Tos-Expires=86400&u=asset://x#top',
    'HTTPS://FILES.EXAMPLE/a.png',
    'https://例え.example/图片/1.png',
    'https://[2001:db8::1]/a.png',
    'https://user:word@files.example/a%20b.png',
    'https://files.example/w_300,h_200/a(1).png',
    'https://asset:80/x',
    'data:image/png;base64,iVBORw0KGgo=',
    'data:image/jpeg; charset=binary;base64,/9j/',
    'DATA:video/mp4;base64,AAAA',
    'data:,asset',
    `asset://${own}`,
    '',
    ...[png, jpeg, gif, mp4, webp],
  ]
  for (const address of allowed) {
    test(`passes: ${JSON.stringify(address.slice(0, 60))}`, async () => {
      const app = openMedia()
      for (const { path, request } of mediaRequests) {
        await app.post(path, request(address))
        expect(app.asked.at(-1)?.text).toContain(JSON.stringify(address))
      }
      expect(app.asked).toHaveLength(mediaRequests.length)
    })
  }

  const rejected: readonly string[] = [
    // Other schemes.
    ...['file:///etc/passwd', 'ftp://files.example/a.png', 'gs://bucket/a.png', 's3://bucket/a.png'],
    ...['tos://bucket/a.png', 'oss://bucket/a.png', 'javascript:alert(1)', 'blob:https://files.example/1'],
    ...[
      'FILE:/etc/passwd',
      'ws://files.example',
      'about:blank',
      'urn:asset:x',
      'cid:x',
      'jar:https://a!/b',
      'view-source:https://a',
    ],
    // Other spellings of an asset URL.
    ...[`ASSET://${own}`, `Asset://${own}`, `asset:${own}`, `asset:/${own}`, `asset:///${own}`, `asset://${own}/`],
    ...[`asset://${own}?x`, `asset://${own}#x`, `asset://${own}/../${foreign}`, `asset://x@${own}`, `asset://${own} `],
    ...[`asset://${own}%2f`, `asset://%61sset`, 'asset://', 'asset:', `asset://${own}\n`, `asset://${own}\0`],
    ...[
      `%61sset://${foreign}`,
      `%61%73%73%65%74%3a%2f%2f${foreign}`,
      `&#97;sset://${foreign}`,
      `\\u0061sset://${foreign}`,
    ],
    ...[
      `ａsset://${foreign}`,
      `ａｓｓｅｔ：／／${foreign}`,
      `аsset://${foreign}`,
      `aſset://${foreign}`,
      `asset：//${foreign}`,
    ],
    ...[`a\u200bsset://${foreign}`, `asset\u00ad://${foreign}`, `as\tset://${foreign}`, `asset:\n//${foreign}`],
    ...[`\u0000asset://${foreign}`, `\u202easset://${foreign}`, `\ufeffasset://${foreign}`, ` asset://${foreign}`],
    ...[`\u00a0asset://${foreign}`, `\tasset://${foreign}`, `"asset://${foreign}"`, `<asset://${foreign}>`],
    ...[
      `asset:\\\\${foreign}`,
      `asset:/\\${foreign}`,
      `\\\\${foreign}`,
      `url(asset://${foreign})`,
      `<URL:asset://${foreign}>`,
    ],
    ...[`myasset://${foreign}`, `assets://${foreign}`, `asset+x://${foreign}`, `x:asset://${foreign}`],
    // Without a scheme.
    ...['//files.example/a.png', `//${foreign}`, '/etc/passwd', './a.png', '../a.png', 'a.png', 'files.example/a.png'],
    ...[foreign, own, 'asset', 'C:\\a.png', '?x', '#x', '\\\\server\\a.png', '~/a.png', ' ', '\n'],
    // Invalid URLs.
    ...['https:files.example/a.png', 'https:/files.example/a.png', 'https:///files.example', 'http://', 'https://?x'],
    ...[
      'ｈttps://files.example/a.png',
      'httpſ://files.example/a.png',
      ' https://files.example/a.png',
      '\u200bhttps://a/b',
    ],
    ...['https://files.example/a b.png', 'https://files.example/a\tb.png', 'https://files.example\\@a/b.png'],
    ...['https://a/\u200bb.png', 'https\u200b://a/b.png', 'h\ttps://a/b.png', `https://a/b.png asset://${foreign}`],
    ...[`https://a/b.png,asset://${foreign}`, `https://a/b.png|ASSET://${foreign}`, `https://a/${'x'.repeat(16_384)}`],
    ...['data:image/png;base64', ' data:,x', 'data\u200b:,x', '%64ata:,x', `data:${'x'.repeat(257)},`],
    // Invalid content.
    ...[
      'iVBORw0KGgo',
      `${png}:`,
      `${png.slice(0, 60)}-${png.slice(61)}`,
      `/9j/../../../../../../../../../../etc/passwd`,
      '/9j/4AAQ',
    ],
    ...['R0lGODlhAQABAIAAAAAAAP%61sset://x', `UklGR${'.'.repeat(40)}`],
  ]
  for (const address of rejected) {
    test(`is 400 naming the field: ${JSON.stringify(address.slice(0, 60))}`, async () => {
      const app = openMedia()
      for (const { path, param, request } of mediaRequests) {
        const response = await app.post(path, request(address))
        expect([param, response.status, await response.json()]).toEqual([
          param,
          400,
          {
            error: {
              message: `${param} must be an http, https or data URL, or asset:// with the id of one of your assets`,
              type: 'invalid_request_error',
              param,
              code: null,
            },
          },
        ])
      }
      expect([app.asked, app.questions]).toEqual([[], []])
    })
  }

  test('base64 of unknown data is no image', async () => {
    const app = openMedia()
    for (const text of [
      'A'.repeat(64),
      `/usr/share/${'x'.repeat(53)}`,
      'bWFueSB3b3JkcyB0aGF0IGFyZSBubyBwaWN0dXJlIGF0IGFsbA==',
    ]) {
      for (const { path, param, request } of mediaRequests.filter(({ param }) => !param.endsWith('file_data')))
        expect([param, (await app.post(path, request(text))).status]).toEqual([param, 400])
    }
    expect(app.asked).toEqual([])
  })

  test('a foreign asset is 403 with the same error as an unknown one', async () => {
    const app = openMedia()
    for (const { path, param, request } of mediaRequests) {
      const responses = []
      for (const id of [foreign, 'asset-20260318071009-none0']) {
        const response = await app.post(path, request(`asset://${id}`))
        responses.push([response.status, await response.text()])
      }
      expect(responses[0]).toEqual(responses[1])
      expect(responses[0]).toEqual([403, expect.stringContaining(`"param":"${param}","code":"asset_not_found"`)])
    }
    expect(app.asked).toEqual([])
  })

  test('base64 of any data is valid in a data field', async () => {
    const app = openMedia()
    for (const data of ['UEsDBBQ=', 'aGVsbG8=', '//uQxAAAAAAAAAAAAAAAAAAAAAAASW5mbwAAAA8AAAAB']) {
      await app.post('/chat/completions', block({ type: 'input_audio', input_audio: { data, format: 'mp3' } }))
      await app.post('/chat/completions', block({ type: 'file', file: { filename: 'a: b.zip', file_data: data } }))
      await app.post('/responses', part({ type: 'input_file', filename: 'a.zip', file_data: data }))
    }
    expect(app.asked).toHaveLength(9)
    for (const data of [foreign, 'file:///x', 'a b', '=', 'a===', 'aGVsbG8', 'aGVs\nbG8=', 'UEsDBB-_', '//etc/passwd'])
      expect(
        (await app.post('/chat/completions', block({ type: 'input_audio', input_audio: { data, format: 'wav' } })))
          .status,
      ).toBe(400)
    expect(app.asked).toHaveLength(9)
  })
})

describe('other members beside media are not checked', () => {
  const requests: readonly (readonly [path: string, request: object])[] = [
    [
      '/chat/completions',
      {
        ...block({ type: 'text', text: 'hi' }),
        modalities: ['text', 'audio'],
        audio: { voice: 'alloy', format: 'pcm16' },
      },
    ],
    [
      '/chat/completions',
      { ...block({ type: 'text', text: 'hi' }), audio: { voice: { id: 'voice_123' }, format: 'mp3' } },
    ],
    [
      '/chat/completions',
      { model: 'm', messages: [{ role: 'assistant', audio: { id: 'audio_abc123' } }], user_profile: 'vip 1' },
    ],
    [
      '/chat/completions',
      block({ type: 'image_url', image_url: { url: png, detail: 'low', image_pixel_limit: { max_pixels: 9 } } }),
    ],
    ['/chat/completions', block({ type: 'file', file: { file_data: png, filename: 'my file: a/b.pdf', name: 'a b' } })],
    [
      '/responses',
      {
        model: 'm',
        input: 'hi',
        image: { context_compression: 'enabled' },
        include: ['message.input_image.image_url'],
      },
    ],
    ['/responses', part({ type: 'input_image', image_url: null, detail: 'auto' })],
    [
      '/responses',
      {
        model: 'm',
        input: 'hi',
        tools: [
          { type: 'mcp', server_label: 'x', server_url: 'https://mcp.example/sse' },
          { type: 'image_generation', input_image_mask: { image_url: `data:image/png;base64,${png}` } },
        ],
      },
    ],
    // A continued conversation repeats the output of the model.
    [
      '/responses',
      {
        model: 'm',
        input: [
          {
            type: 'web_search_call',
            id: 'ws_1',
            status: 'completed',
            action: { type: 'open_page', url: 'turn0search0', sources: [{ type: 'url', url: 'www.example.com' }] },
          },
          {
            role: 'assistant',
            content: [
              {
                type: 'output_text',
                text: 'x',
                annotations: [{ type: 'url_citation', url: 'www.example.com/a b', title: 't' }],
              },
            ],
          },
          { type: 'computer_call', call_id: 'c', action: { type: 'screenshot' } },
          {
            type: 'computer_call_output',
            call_id: 'c',
            output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${png}` },
          },
          { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: png },
        ],
      },
    ],
    [
      '/chat/completions',
      {
        model: 'm',
        messages: [
          {
            role: 'assistant',
            content: 'x',
            annotations: [{ type: 'url_citation', url_citation: { url: 'example.com', title: 't' } }],
          },
        ],
      },
    ],
    [
      '/chat/completions',
      {
        ...block({ type: 'text', text: 'file:///etc/passwd' }),
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              parameters: {
                properties: { image_url: { type: 'string', default: 'file:///x', description: 'a path' } },
              },
            },
          },
        ],
      },
    ],
    [
      '/chat/completions',
      {
        model: 'm',
        messages: [{ role: 'user', content: '{"image_url":{"url":"file:///x"}}' }],
        metadata: { url: 'file:///x', image: 'a b' },
      },
    ],
    [
      '/chat/completions',
      {
        model: 'm',
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"url":"file:///x"}' } }],
          },
        ],
      },
    ],
  ]
  for (const [path, request] of requests) {
    test(JSON.stringify(request).slice(0, 120), async () => {
      // The owners of recordings, voices and items are checked elsewhere.
      const app = openMedia(undefined, ['audio.id', 'voice.id', 'item_reference'])
      const response = await app.post(path, request)
      expect([response.status === 400 && (await response.text()), app.asked.length]).toEqual([false, 1])
    })
  }
})

describe('the preset assets of the operator', () => {
  test('pass for all users without an ownership check', async () => {
    const app = openMedia([preset])
    for (const { path, request } of mediaRequests) await app.post(path, request(`asset://${preset}`))
    expect([app.asked.length, app.questions]).toEqual([mediaRequests.length, []])
  })

  test('are compared exactly', async () => {
    const app = openMedia([preset])
    const others = [`${preset}0`, preset.slice(0, -1), preset.toUpperCase(), foreign, `${preset}.`]
    for (const { path, request } of mediaRequests) {
      for (const id of others) expect((await app.post(path, request(`asset://${id}`))).status).toBe(403)
      for (const odd of [`ASSET://${preset}`, `asset:${preset}`, `asset://${preset}/../${foreign}`, preset])
        expect((await app.post(path, request(odd))).status).toBe(400)
    }
    expect(app.asked).toEqual([])
  })

  test('do not exempt other assets in the request', async () => {
    const app = openMedia([preset])
    const video = [`asset://${preset}`, `asset://${own}`, `asset://${foreign}`]
    const response = await app.post('/chat/completions', block({ type: 'video', video }))
    expect([response.status, await response.json()]).toMatchObject([
      403,
      { error: { param: 'messages[0].content[0].video[2]' } },
    ])
  })

  test('work without an asset library', async () => {
    const app = openApp(() => streaming([chunk({ content: 'x' }, 'stop'), '[DONE]']), { presetAssets: [preset] })
    const [first] = mediaRequests
    expect((await app.post('/chat/completions', first?.request(`asset://${preset}`))).status).toBe(200)
    expect((await app.post('/chat/completions', first?.request(`asset://${own}`))).status).toBe(403)
  })
})
