import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Emulator } from '../../src/emulator/index.ts'
import { create, created, MODEL, MODEL_10, MODEL_25, media, send, startAt, text } from './video-client.ts'

let emulator: Emulator
let group: string

beforeAll(async () => {
  emulator = await startAt(
    { runningMs: 0, maxQueued: Number.POSITIVE_INFINITY },
    { processingMs: Number.POSITIVE_INFINITY },
  )
  group = emulator.library.addGroup({ name: 'g' }).id
})
afterAll(() => emulator.stop())

const url = 'https://files.example/a.png'
const image = (role?: string, at = url) => media('image', at, role)
const video = (at = 'https://files.example/clip-6s.mp4') => media('video', at, 'reference_video')
const audio = (at = 'https://files.example/tune-6s.mp3') => media('audio', at, 'reference_audio')
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item)

/** The code of the error and its `param`, or 200. */
const verdict = async (model: string, content: object[], more: object = {}) => {
  const { status, json } = await send(emulator, 'POST', '', { model, content, ...more })
  return status === 200 ? 200 : [status, json.error?.code, json.error?.param]
}
const bad = (param: string, code = 'InvalidParameter') => [400, code, param]
const unsupported = (param: string) => bad(param, 'InvalidParameter.UnsupportedParameter')
const constraint = (param: string) => bad(param, 'InvalidParameter.TaskTypeConstraint')

describe('the caller', () => {
  test('only the bearer key is accepted; errors have the form of the data plane', async () => {
    for (const authorization of ['', 'Bearer wrong', `HMAC-SHA256 Credential=${emulator.ark.accessKey}/x`]) {
      const { status, json, headers } = await send(emulator, 'GET', '', undefined, { authorization })
      const id = headers.get('x-request-id')
      const message = expect.stringMatching(new RegExp(`^(?:The API key|AK/SK).*Request id: ${id}$`))
      expect<unknown>([status, json]).toEqual([
        401,
        { error: { code: 'AuthenticationError', message, param: '', type: 'Unauthorized' } },
      ])
    }
  })

  test('other paths, methods and bodies are rejected', async () => {
    const raw = async (method: string, path: string, body?: string) => {
      const { status, code, headers } = await send(emulator, method, path, body)
      return [status, code, headers.get('allow')]
    }
    expect(await raw('GET', '/a/b')).toEqual([404, 'InvalidPath', null])
    expect(await raw('PUT', '/a')).toEqual([405, 'MethodNotAllowed', 'GET, DELETE'])
    expect(await raw('DELETE', '')).toEqual([405, 'MethodNotAllowed', 'POST, GET'])
    expect(await raw('POST', '', '[]')).toEqual([400, 'InvalidParameter', null])
    expect(await raw('POST', '', '{')).toEqual([400, 'InvalidParameter', null])
    expect(await raw('GET', `?filter.task_ids=${'x'.repeat(8200)}`)).toEqual([414, 'InvalidParameter', null])
  })
})

test('model and content are required, and unknown fields are ignored', async () => {
  expect(await verdict('', [text('x')])).toEqual(bad('model', 'MissingParameter'))
  expect(await verdict('ep-0', [text('x')])).toEqual([404, 'InvalidEndpointOrModel.NotFound', 'model'])
  expect(await verdict(MODEL, [])).toEqual(bad('content', 'MissingParameter'))
  expect(await verdict(MODEL, [{ text: 'x' }])).toEqual(bad('content[0].type', 'MissingParameter'))
  expect(await verdict(MODEL, [{ type: 'file_url' }])).toEqual(bad('content[0].type'))
  expect(await verdict(MODEL, [text('x')], { negative_prompt: 'y', n: 2 })).toBe(200)
})

test('fields of the other families are rejected', async () => {
  for (const [model, field, value] of [
    [MODEL, 'seed', 1],
    [MODEL, 'frames', 29],
    [MODEL, 'camera_fixed', true],
    [MODEL, 'draft', true],
    [MODEL, 'output_format', 'mov'],
    [MODEL, 'omni_reference_task_type', 'auto'],
    [MODEL, 'service_tier', 'flex'],
    [MODEL_25, 'seed', 1],
    [MODEL_10, 'generate_audio', true],
    [MODEL_10, 'priority', 0],
    [MODEL_10, 'tools', [{ type: 'web_search' }]],
  ] as const)
    expect([model, field, await verdict(model, [text('x')], { [field]: value })]).toEqual([
      model,
      field,
      unsupported(field),
    ])
})

test('values have the ranges of the model', async () => {
  for (const [model, fields, wrong] of [
    [MODEL, { resolution: '4k', ratio: '21:9', duration: 15, priority: 9, tools: [{ type: 'web_search' }] }, undefined],
    [MODEL, { duration: -1, execution_expires_after: 3600, safety_identifier: 'x'.repeat(64) }, undefined],
    [MODEL_25, { duration: 30, resolution: '1080p', output_format: 'mov', draft: true }, undefined],
    [MODEL_10, { frames: 289, seed: 2 ** 31 - 1, camera_fixed: true, service_tier: 'flex', duration: 12 }, undefined],
    [MODEL, { resolution: '8k' }, 'resolution'],
    ['doubao-seedance-2-0-fast-260128', { resolution: '1080p' }, 'resolution'],
    [MODEL, { ratio: '2:1' }, 'ratio'],
    [MODEL, { duration: 3 }, 'duration'],
    [MODEL, { duration: 16 }, 'duration'],
    [MODEL, { duration: 4.5 }, 'duration'],
    [MODEL, { duration: '5' }, 'duration'],
    [MODEL_10, { duration: -1 }, 'duration'],
    [MODEL_10, { frames: 30 }, 'frames'],
    [MODEL_10, { seed: -2 }, 'seed'],
    [MODEL, { priority: 10 }, 'priority'],
    [MODEL, { execution_expires_after: 3599 }, 'execution_expires_after'],
    [MODEL, { execution_expires_after: 259_201 }, 'execution_expires_after'],
    [MODEL, { safety_identifier: 'x'.repeat(65) }, 'safety_identifier'],
    [MODEL, { callback_url: 'ftp://x' }, 'callback_url'],
    [MODEL, { service_tier: 'fast' }, 'service_tier'],
    [MODEL, { watermark: 'yes' }, 'watermark'],
    [MODEL, { tools: [{ type: 'shell' }] }, 'tools[0].type'],
  ] as const)
    expect([fields, await verdict(model, [text('x')], fields)]).toEqual([
      fields,
      wrong === undefined ? 200 : bad(wrong),
    ])
})

test('first frame, first and last frame, and references exclude each other', async () => {
  for (const [content, wrong] of [
    [[image()], undefined],
    [[text('x'), image('first_frame'), image('last_frame')], undefined],
    [[image('reference_image'), video(), audio()], undefined],
    [[image('last_frame')], 'content'],
    [[image(), image('first_frame')], 'content'],
    [[image('first_frame'), image('reference_image')], 'content'],
    [[image(), video()], 'content'],
    [[image('reference_video')], 'content[0].role'],
    [[media('video', 'https://files.example/a.mp4')], 'content'],
    [[audio()], 'content'],
  ] as const)
    expect([content, await verdict(MODEL, [...content])]).toEqual([
      [...content],
      wrong === undefined ? 200 : bad(wrong),
    ])
  expect(await verdict(MODEL_25, [audio()])).toBe(200)
  expect(await verdict('doubao-seedance-1-0-pro-fast-251015', [image(), image('last_frame')])).toEqual(bad('content'))
  expect(await verdict(MODEL_10, [image('reference_image')])).toEqual(bad('content'))
})

test('each model takes as many references and seconds as it may', async () => {
  const short = (kind: 'video' | 'audio', seconds: number) =>
    media(kind, `https://files.example/${seconds}s.${kind === 'video' ? 'mp4' : 'mp3'}`, `reference_${kind}`)
  for (const [model, images, videos, audios] of [
    [MODEL, 9, 3, 3],
    [MODEL_25, 30, 10, 10],
  ] as const) {
    const most = [
      ...times(images, image('reference_image')),
      ...times(videos, short('video', 2)),
      ...times(audios, short('audio', 2)),
    ]
    expect(await verdict(model, most)).toBe(200)
    for (const extra of [image('reference_image'), short('video', 1), short('audio', 1)])
      expect(await verdict(model, [...most, extra])).toEqual(bad('content'))
  }
  expect(await verdict(MODEL, [short('video', 8), short('video', 8)])).toEqual(bad('content'))
  expect(await verdict(MODEL_25, [short('video', 8), short('video', 8)])).toBe(200)
})

test('URLs are public, data: URIs of images and audios, or assets', async () => {
  const png = 'data:image/png;base64,iVBORw0KGgo='
  const frame = (at: string) => verdict(MODEL, [image('first_frame', at)])
  expect(await frame(png)).toBe(200)
  expect(await frame('data:image/png;base64,*')).toEqual(bad('content[0].image_url'))
  expect(await frame('file:///etc/passwd')).toEqual(bad('content[0].image_url'))
  expect(await frame('a.png')).toEqual(bad('content[0].image_url'))
  expect(await verdict(MODEL, [video('data:video/mp4;base64,AAAA')])).toEqual(bad('content[0].video_url'))
  const person = bad('', 'InputImageSensitiveContentDetected.PrivacyInformation')
  expect(await frame('https://files.example/real-face/a.png')).toEqual(person)
  expect(await frame(`data:image/png;base64,${btoa('\x89PNG real-face of somebody')}`)).toEqual(person)
  expect(await frame(`data:image/png;base64,${btoa('\x89PNG of a cat')}`)).toBe(200)
})

test('an asset must exist in the project, be active and of the right type; presets are everybody’s', async () => {
  const { library } = emulator
  const own = library.addAsset({ groupId: group, url: 'https://files.example/real-face/a.png' })
  const processing = library.addAsset({ groupId: group, status: 'Processing' })
  const failed = library.addAsset({ groupId: group, status: 'Failed' })
  const foreign = library.addGroup({ name: 'f', project: 'other' })
  const elsewhere = library.addAsset({ groupId: foreign.id })
  const frame = (id: string) => verdict(MODEL, [image('reference_image', `asset://${id}`)])
  expect(await frame(own.id)).toBe(200)
  expect(await frame('asset-20250101000000-face1')).toBe(200)
  for (const id of [processing.id, failed.id, elsewhere.id, 'asset-0', '', 'asset-20250101000000-clip1'])
    expect([id, await frame(id)]).toEqual([id, bad('content[0].image_url')])
  expect(await verdict(MODEL, [video(`asset://${own.id}`)])).toEqual(bad('content[0].video_url'))
  expect(await verdict(MODEL, [video('asset://asset-20250101000000-clip1')])).toBe(200)
})

test('a named task type of 2.5 is checked at once, one that the prompt implies fails the task', async () => {
  const named = (type: string, content: object[], more: object = {}) =>
    verdict(MODEL_25, content, { omni_reference_task_type: type, ...more })
  expect(await named('edit', [text('x'), video()])).toBe(200)
  expect(await named('edit', [text('x')])).toEqual(constraint('content'))
  expect(await named('edit', [video()], { ratio: '16:9' })).toEqual(constraint('ratio'))
  expect(await named('edit', [video()], { duration: 5 })).toEqual(constraint('duration'))
  expect(await named('edit', [video('https://files.example/2s.mp4')])).toEqual(constraint('content[0].video_url'))
  expect(await named('extend', [video()], { duration: 5 })).toBe(200)
  expect(await named('extend', [video()], { ratio: '1:1' })).toEqual(constraint('ratio'))
  expect(await verdict(MODEL_25, [image()], { ratio: '1:1' })).toEqual(constraint('ratio'))
  for (const [type, prompt, code] of [
    ['auto', 'remove the hat', 'InvalidParameter.TaskTypeConstraint'],
    ['reference', 'remove the hat', 'InvalidParameter.TaskTypeMismatch'],
  ]) {
    const content = [text(prompt ?? ''), video()]
    const id = await created(emulator, '', { model: MODEL_25, content, omni_reference_task_type: type, duration: 5 })
    emulator.video.advance(1)
    const task = emulator.video.tasks().find((one) => one.id === id)
    expect([task?.status, task?.error?.code]).toEqual(['failed', code])
  }
})

test('a draft task is the input of its final video, once it has succeeded', async () => {
  const draft = await created(emulator, 'a dog', { model: MODEL_25, draft: true, duration: 8, ratio: '1:1' })
  const plain = await created(emulator, 'a dog', { model: MODEL_25 })
  const broken = await created(emulator, 'fail with InternalServiceError', { model: MODEL_25, draft: true })
  emulator.video.advance(1)
  const of = (id: string) => [{ type: 'draft_task', draft_task: { id } }]
  for (const id of [plain, broken, 'cgt-0'])
    expect(await verdict(MODEL_25, of(id))).toEqual(bad('content[0].draft_task'))
  expect(await verdict(MODEL, of(draft))).toEqual(bad('content[0].type'))
  expect(await verdict(MODEL_25, [...of(draft), text('x')])).toEqual(bad('content'))
  const final = await created(emulator, '', { model: MODEL_25, content: of(draft), resolution: '1080p' })
  emulator.video.advance(1)
  const { json } = await send(emulator, 'GET', `/${final}`)
  expect(json).toMatchObject({ draft_task_id: draft, duration: 8, ratio: '1:1', resolution: '1080p' })
  expect((await send(emulator, 'GET', `/${draft}`)).json).toMatchObject({ draft: true, resolution: '480p' })
})

test('parameters at the end of the prompt count where the body has none, and wrong ones are ignored', async () => {
  const prompt = 'a cat --rs 480p --rt 9:16 --dur 8 --seed 11 --cf false --wm true'
  await created(emulator, prompt, { model: MODEL_10, ratio: '4:3' })
  const request = emulator.video.tasks().at(-1)?.request
  expect(request).toMatchObject({ prompt: 'a cat', resolution: '480p', ratio: '4:3', duration: 8, seed: 11 })
  await created(emulator, 'a cat --rs 9k --dur 99 --frames 29 --other 1', { model: MODEL })
  expect(emulator.video.tasks().at(-1)?.request).toMatchObject({
    prompt: 'a cat --other 1',
    resolution: '720p',
    duration: 5,
  })
})

test('a prompt can be rejected as sensitive', async () => {
  const { status, code } = await create(emulator, 'reject with InputTextSensitiveContentDetected.PolicyViolation')
  expect([status, code]).toEqual([400, 'InputTextSensitiveContentDetected.PolicyViolation'])
})
