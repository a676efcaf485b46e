import { describe, expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json/json.ts'
import { violationsOf } from '../../plugins/video-generation/tasks/request/model-rules.ts'
import { defaultVideoModels } from '../../src/emulator/video/models.ts'
import { readRequest } from '../../src/emulator/video/request/task-request.ts'
import { seededRandom } from '../sse-relay/vectors.ts'

const prompt = { type: 'text', text: 'a cat' }
const image = (role?: string, url = 'https://files.example/a.png') => ({ type: 'image_url', image_url: { url }, role })
const video = (role?: string) => ({ type: 'video_url', video_url: { url: 'https://files.example/a.mp4' }, role })
const audio = (role?: string) => ({ type: 'audio_url', audio_url: { url: 'https://files.example/a.mp3' }, role })

const violations = (request: object, model: string) =>
  violationsOf(readJson(new TextEncoder().encode(JSON.stringify({ model, ...request }))), model)

const known = { library: { asset: () => undefined }, project: 'default', presetAssets: [] }

/** Why the emulated upstream refuses a request. */
const refusal = (request: object, model: (typeof defaultVideoModels)[number]): string | undefined => {
  try {
    const clean = JSON.parse(JSON.stringify({ model: model.id, ...request }))
    readRequest(clean, model, known as never)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe('the rules of a model', () => {
  test('find what the upstream refuses, and nothing else', () => {
    const below = seededRandom(20_261_126)
    const pick = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value
    const some = (of: () => object, most: number) => Array.from({ length: below(most + 1) }, of)
    const wrong: unknown[] = []
    let refused = 0
    for (let round = 0; round < 4_000; round++) {
      const model = pick(defaultVideoModels)
      const content = pick([
        () => [prompt],
        () => [prompt, image(pick([undefined, 'first_frame']))],
        () => [image('first_frame'), image('last_frame')],
        () => [prompt, ...some(() => image('reference_image'), 11)],
        () => [prompt, ...some(() => video(pick(['reference_video', 'reference_video', undefined])), 2)],
        () => [prompt, ...some(() => audio('reference_audio'), 2), ...some(() => image('reference_image'), 1)],
        () => [
          prompt,
          image(pick(['last_frame', 'other', 'reference_image'])),
          image(pick([undefined, 'first_frame'])),
        ],
        () => [],
      ])()
      const request = {
        content,
        ...(below(2) && { duration: pick([-1, 1, 2, 4, 5, 12, 13, 15, 16, 30, 31, 4.5]) }),
        ...(below(2) && { resolution: pick(['480p', '720p', '1080p', '4k', '8k']) }),
        ...(below(2) && { ratio: pick(['16:9', '9:16', 'adaptive', '5:4']) }),
        ...(below(6) === 0 && { frames: pick([29, 30, 33, 289, 293]) }),
        ...(below(6) === 0 && { service_tier: pick(['default', 'flex']) }),
        ...(below(6) === 0 && { generate_audio: true }),
        ...(below(8) === 0 && { draft: false }),
        ...(below(8) === 0 && { omni_reference_task_type: pick(['auto', 'reference', 'edit', 'extend']) }),
        ...(below(8) === 0 && { seed: 7 }),
      }
      const refusedFor = refusal(request, model)
      const found = violations(request, model.id)
      if (refusedFor !== undefined) refused++
      if (found.length > 0 !== (refusedFor !== undefined)) wrong.push({ model: model.id, request, refusedFor, found })
    }
    expect(wrong.slice(0, 3)).toEqual([])
    expect(refused).toBeGreaterThan(1_000)
    expect(refused).toBeLessThan(3_800)
  })

  test('name the field', () => {
    const model = 'doubao-seedance-2-0-260128'
    expect(violations({ content: [prompt], resolution: '8k', duration: 99, seed: 1 }, model)).toEqual([
      { param: 'seed', message: 'is not a field of this model' },
      { param: 'resolution', message: 'must be one of 480p, 720p, 1080p, 4k' },
      { param: 'duration', message: 'must be -1 or an integer from 4 to 15' },
    ])
    expect(violations({ content: [prompt, video()] }, model)).toEqual([
      { param: 'content[1].role', message: 'is required' },
    ])
  })

  test('hold for files in the request, of which only the beginning is read', () => {
    const model = 'doubao-seedance-2-0-260128'
    const of = (url: string) =>
      violations({ content: [image('first_frame', url)] }, model).map(({ message }) => message)
    expect(of('data:image/png;base64,AAAA')).toEqual([])
    expect(of('data:image/svg+xml;base64,AAAA')).toEqual([expect.stringContaining('must be base64 of a picture')])
    expect(of(`data:image/png;base64,${'A'.repeat(42 * 2 ** 20)}`)).toEqual(['must have at most 31457280 bytes'])
  })

  test('are not known for an endpoint', () => {
    expect(violations({ content: [], duration: 99 }, 'ep-20260101000000-video')).toEqual([])
  })

  test('report at most 50 violations', () => {
    const content = Array.from({ length: 100 }, () => video())
    expect(violations({ content }, 'doubao-seedance-2-0-260128')).toHaveLength(50)
  })
})
