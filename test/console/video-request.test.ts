import { describe, expect, test } from 'bun:test'

type Input = { readonly type: 'Image' | 'Video' | 'Audio'; readonly url: string; readonly title: string }
interface Plan {
  readonly model: string
  readonly mode: string
  readonly prompt: string
  readonly firstFrame?: Input
  readonly lastFrame?: Input
  readonly references: readonly Input[]
  readonly draftTask?: string
  readonly autoAssets?: boolean
  readonly fields: Readonly<Record<string, string | boolean>>
  readonly extras: string
}

/** The page's modules. They are JavaScript, and the page's own type check covers them. */
const load = (name: string) => import(new URL(`../../plugins/console/page/${name}`, import.meta.url).href)
const { emptyPlan, requestOf }: { emptyPlan: Plan; requestOf(plan: Plan): { body?: object; problem?: string } } =
  await load('videos/video-request.js')
const {
  createIdempotencyKeys,
}: {
  createIdempotencyKeys(): { keyOf(body: object): string; succeeded(): void }
} = await load('api/idempotency-keys.js')

const model = 'doubao-seedance-2-5-260628'
const input = (type: Input['type'], id: string): Input => ({ type, url: `asset://${id}`, title: id })
const plan = (changes: Partial<Plan>): Plan => ({ ...emptyPlan, model, prompt: 'a cat', ...changes })
const text = { type: 'text', text: 'a cat' }

describe('the request of a video', () => {
  const files = {
    firstFrame: input('Image', 'first'),
    lastFrame: input('Image', 'last'),
    references: [input('Image', 'i'), input('Video', 'v'), input('Audio', 'a')],
    draftTask: 'cgt-draft',
  }
  const item = (type: string, id: string, role: string) => ({ type, [type]: { url: `asset://${id}` }, role })

  test.each([
    ['text', []],
    ['frames', [item('image_url', 'first', 'first_frame'), item('image_url', 'last', 'last_frame')]],
    [
      'references',
      [
        item('image_url', 'i', 'reference_image'),
        item('video_url', 'v', 'reference_video'),
        item('audio_url', 'a', 'reference_audio'),
      ],
    ],
    ['draft', [{ type: 'draft_task', draft_task: { id: 'cgt-draft' } }]],
  ])('contains only the files of the mode %s', (mode, items) => {
    expect(requestOf(plan({ ...files, mode })).body).toEqual({
      model,
      content: [text, ...items],
      return_last_frame: true,
    })
  })

  test.each([
    ['text', {}, undefined],
    ['frames', {}, 'auto'],
    ['references', {}, 'auto'],
    ['references', { service_tier: 'flex' }, undefined],
    ['draft', {}, undefined],
  ])('in the mode %s with %j asks for assets of refused pictures as %s', (mode, fields, expected) => {
    // A model of the family that has the tier flex.
    const wish = plan({ ...files, model: 'doubao-seedance-1-5-pro-251215', mode, fields, autoAssets: true })
    expect((requestOf(wish).body as { references?: string }).references).toBe(expected)
    expect(requestOf({ ...wish, autoAssets: false }).body).not.toHaveProperty('references')
  })

  const fields = {
    ...{ resolution: '720p', ratio: '16:9', duration: '5', seed: '0', camera_fixed: true, service_tier: 'flex' },
    ...{ generate_audio: false, draft: true, output_format: 'mov', omni_reference_task_type: 'edit', watermark: true },
  }
  const common = { resolution: '720p', ratio: '16:9', duration: 5, watermark: true }
  test.each([
    [model, { generate_audio: false, draft: true, output_format: 'mov', omni_reference_task_type: 'edit' }],
    ['doubao-seedance-2-0-260128', { generate_audio: false }],
    ['doubao-seedance-1-0-pro-250528', { seed: 0, camera_fixed: true, service_tier: 'flex' }],
    ['ep-20260101000000-video', { seed: 0, generate_audio: false }],
  ])('contains only the fields of the model %s', (name, own) => {
    expect(requestOf(plan({ model: name, fields })).body).toEqual({ model: name, content: [text], ...common, ...own })
  })

  test('leaves out what is the default of the model', () => {
    const unset = { resolution: '', duration: '', seed: '', generate_audio: true, draft: false }
    expect(requestOf(plan({ fields: unset })).body).toEqual({ model, content: [text] })
  })

  test('contains further fields, which win, but never another model or other content', () => {
    const extras = '{"tools": [{"type": "web_search"}], "return_last_frame": false}'
    expect(requestOf(plan({ extras })).body).toEqual({
      ...{ model, content: [text], return_last_frame: false },
      tools: [{ type: 'web_search' }],
    })
    for (const wrong of ['{', '[]', 'null', '1', '{"model":"x"}', '{"content":[]}']) {
      expect([wrong, requestOf(plan({ extras: wrong }))]).toEqual([wrong, { problem: 'extras' }])
    }
  })

  test('is not made without a model, or without a prompt and a file', () => {
    expect(requestOf(plan({ model: ' ' }))).toEqual({ problem: 'model' })
    expect(requestOf(plan({ prompt: ' ', mode: 'frames' }))).toEqual({ problem: 'empty' })
    expect(requestOf(plan({ prompt: '', mode: 'frames', firstFrame: files.firstFrame })).problem).toBeUndefined()
  })
})

test('a request has the same idempotency key until it succeeds, and another request another one', () => {
  const keys = createIdempotencyKeys()
  const first = keys.keyOf({ a: 1 })
  expect(first).toMatch(/^[\w-]{36}$/)
  expect(keys.keyOf({ a: 1 })).toBe(first)
  const other = keys.keyOf({ a: 2 })
  expect(other).not.toBe(first)
  keys.succeeded()
  expect(keys.keyOf({ a: 2 })).not.toBe(other)
})

test('a response that was overtaken does not take the state of a task back', async () => {
  const globals = { document: { documentElement: { dataset: { paths: '{"page":""}' } } }, location: { pathname: '/' } }
  Object.assign(globalThis, globals)
  const { withTask } = await load('videos/video-task.js').finally(() => {
    for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name)
  })
  const task = (id: string, status: string) => ({ id, status })
  const running = [task('a', 'running'), task('b', 'queued')]
  expect(withTask(running, task('a', 'queued'))).toEqual(running)
  expect(withTask(running, task('a', 'failed'))).toEqual([task('a', 'failed'), task('b', 'queued')])
  expect(withTask([task('a', 'succeeded')], task('a', 'running'))).toEqual([task('a', 'succeeded')])
  expect(withTask(running, task('c', 'queued'))).toEqual([task('c', 'queued'), ...running])
})
