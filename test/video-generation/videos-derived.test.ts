import { describe, expect, test } from 'bun:test'
import { FieldProblem } from '../../plugins/shared/field-problem.ts'
import { toJson } from '../../plugins/shared/json/json.ts'
import { UpstreamRejectedError } from '../../plugins/shared/upstream/upstream-error.ts'
import type { VideoResult, VideoTaskView } from '../../plugins/video-generation/tasks/tasks.ts'
import { type Derivation, sourceOf, toDerivedTask } from '../../plugins/video-generation/videos/derived.ts'
import { createNames, derivedNames, translateError } from '../../plugins/video-generation/videos/problem.ts'
import type { TaskRequest } from './videos-fixture.ts'

const hour = 3_600_000
const links = { video: 'https://bucket.example/v.mp4?signature=s' }

const source = (result: Partial<VideoResult> | undefined, task: object = {}, more: Partial<VideoTaskView> = {}) =>
  ({
    ...{ id: 'cgt-1', status: 'succeeded', model: 'ep-1', createdAt: 0, endedAt: 0, queue: undefined },
    body: toJson({
      ...{ model: 'doubao-seedance-2-5-260628', resolution: '1080p', ratio: '16:9', duration: 6, ...task },
      content: { video_url: 'https://gateway.example/api/files/results/a.mp4?signature=s' },
    }),
    notes: { prompt: 'a cat', model: 'sora-2', seconds: '4', size: '1920x1080' },
    result: result && { expiresAt: 100 * hour, copies: {}, links: {}, ...result },
    ...more,
  }) satisfies VideoTaskView

const derive = (from: VideoTaskView, derivation: Derivation, fields: Record<string, string>, now = hour) => {
  const given = new Map(Object.entries({ prompt: 'a dog', ...fields }))
  const { body, notes } = toDerivedTask(given, from, { derivation, clock: { now: () => now } })
  return { body: body.value() as TaskRequest, notes }
}

const problemOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    if (error instanceof FieldProblem) return { status: error.status, param: error.param }
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('a video from another one', () => {
  test('as an edit has its result as reference, and keeps model, resolution and length', () => {
    const { body, notes } = derive(source({ links }), 'edit', {})
    expect(body).toEqual({
      model: 'ep-1',
      content: [
        { type: 'text', text: 'a dog' },
        { type: 'video_url', video_url: { url: links.video }, role: 'reference_video' },
      ],
      ...{ resolution: '1080p', ratio: 'adaptive', duration: -1 },
      ...{ omni_reference_task_type: 'edit', return_last_frame: true },
    })
    expect(notes).toEqual({
      ...{ prompt: 'a dog', model: 'sora-2', seconds: '6', size: '1920x1080', remixedFrom: 'cgt-1' },
    })
  })

  test('as an extension names the seconds that it adds', () => {
    const { body, notes } = derive(source({ links }), 'extend', { seconds: '8' })
    expect(body).toMatchObject({ duration: 8, omni_reference_task_type: 'extend' })
    expect(notes).toEqual({ prompt: 'a dog', model: 'sora-2', seconds: '14', size: '1920x1080' })
    expect(problemOf(() => derive(source({ links }), 'extend', {}))).toEqual({ status: 400, param: 'seconds' })
  })

  test('names the kind of task only to models that have the field', () => {
    const older = source({ links }, { model: 'doubao-seedance-2-0-260128' })
    expect(derive(older, 'edit', {}).body).not.toHaveProperty('omni_reference_task_type')
  })

  test("has the upstream's link while it is valid, and then that of the stored copy", () => {
    const urlAt = (result: Partial<VideoResult>, now: number) =>
      derive(source(result), 'edit', {}, now).body.content[1]?.video_url?.url
    const copies = { video: 'results/a.mp4' }
    expect(urlAt({ links, copies }, 22 * hour)).toBe(links.video)
    expect(urlAt({ links, copies }, 23 * hour)).toStartWith('https://gateway.example/')
    expect(problemOf(() => urlAt({ links }, 23 * hour))).toEqual({ status: 400, param: 'video' })
  })

  test('needs one with a result', () => {
    const queued = source(undefined, {}, { status: 'queued', endedAt: undefined })
    expect(problemOf(() => derive(queued, 'edit', {}))).toEqual({ status: 400, param: 'video' })
    expect(problemOf(() => derive(source({}), 'edit', {}))).toEqual({ status: 400, param: 'video' })
  })

  test('is named by its id, not by a file', () => {
    expect(sourceOf(new Map([['video.id', 'cgt-1']]))).toBe('cgt-1')
    expect(problemOf(() => sourceOf(new Map()))).toEqual({ status: 400, param: 'video' })
    expect(problemOf(() => sourceOf(new Map([['video', new Uint8Array(1)]])))).toEqual({
      status: 400,
      param: 'video',
    })
    const both = new Map([
      ['video', 'cgt-1'],
      ['video.id', 'cgt-1'],
    ])
    expect(problemOf(() => sourceOf(both))).toEqual({ status: 400, param: 'video' })
  })
})

describe('an error of the native API', () => {
  const fields = ({ status, message, param, code, headers }: FieldProblem) => ({
    ...{ status, message, param, code, headers },
  })

  const translated = (error: unknown, names = createNames) => {
    const problem = translateError(error, names)
    if (!(problem instanceof FieldProblem)) throw new Error('another error')
    return fields(problem)
  }

  test('names the field of the caller', () => {
    const native = (param: string) =>
      new FieldProblem(403, `${param} is not yours`, { param, code: 'asset_not_found', headers: { a: 'b' } })
    const expected = { status: 403, code: 'asset_not_found', headers: { a: 'b' } }
    expect(translated(native('content[1].image_url.url'))).toEqual({
      ...{ ...expected, message: 'input_reference is not yours', param: 'input_reference' },
    })
    expect(translated(native('content[1].video_url.url'), derivedNames).param).toBe('video')
    for (const [param, name] of Object.entries({
      duration: 'seconds',
      ratio: 'size',
      resolution: 'size',
      model: 'model',
    }))
      expect(translated(native(param)).param).toBe(name)
  })

  test('of the upstream keeps its code and message, and the advice to wait', () => {
    const rejected = (body: string) =>
      new UpstreamRejectedError({
        status: 429,
        headers: new Headers({ 'retry-after': '7', 'x-other': 'a' }),
        bytes: new TextEncoder().encode(body),
      })
    const error = {
      code: 'InvalidParameter',
      message: 'The parameter `duration` is wrong.',
      param: 'duration',
      type: 'x',
    }
    expect(translated(rejected(JSON.stringify({ error })))).toEqual({
      ...{ status: 429, message: error.message, param: 'seconds', code: error.code },
      headers: { 'retry-after': '7' },
    })
    for (const body of ['', 'a page', 'null', '{"error":"no"}', '{"error":{"code":1,"message":null}}']) {
      const { status, param, code } = translated(rejected(body))
      expect({ status, param, code }).toEqual({ status: 429, param: undefined, code: undefined })
    }
  })

  test('of another kind remains', () => {
    for (const error of [new TypeError('a'), undefined, 'text']) expect(translateError(error, createNames)).toBe(error)
  })
})
