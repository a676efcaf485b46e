import { describe, expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json/json.ts'
import { expectedUsageOf } from '../../plugins/video-generation/tasks/request/expected-usage.ts'
import { defaultVideoModels, families, ratios } from '../../src/emulator/video/models.ts'
import { readRequest } from '../../src/emulator/video/request/task-request.ts'
import { generatedOf } from '../../src/emulator/video/tasks/task-object.ts'

const prompt = { type: 'text', text: 'a cat' }
const known = { assets: new Map(), tasks: new Map() }

/** What the emulated upstream would report. */
const reported = (request: object, model: (typeof defaultVideoModels)[number]) => {
  const read = readRequest({ model: model.id, ...request } as never, model, known as never)
  return generatedOf({ request: read, model, number: 1 } as never)
}

const expected = (request: object, model: string) =>
  expectedUsageOf(readJson(new TextEncoder().encode(JSON.stringify({ model, ...request }))), model)

describe('the expected usage of a task', () => {
  for (const model of defaultVideoModels) {
    test(`is that of the upstream for ${model.id} with every format and a fixed duration`, () => {
      const { minSeconds, maxSeconds } = families[model.family]
      for (const resolution of model.resolutions) {
        for (const ratio of ratios) {
          for (const duration of [minSeconds, 5, maxSeconds]) {
            const request = { content: [prompt], resolution, ratio, duration }
            const { completionTokens, seconds } = reported(request, model)
            const exact = true
            expect({ ...request, ...expected(request, model.id) }).toEqual({
              ...{ ...request, completionTokens, seconds, exact },
            })
          }
        }
      }
    })

    test(`is that of the upstream for ${model.id} with its defaults and with parameters in the prompt`, () => {
      const duration = { duration: 6 }
      const text = 'a cat --rs 480p --rt 1:1 --dur 8'
      for (const request of [{ content: [prompt], ...duration }, { content: [{ ...prompt, text }] }]) {
        const { completionTokens, seconds } = reported(request, model)
        expect(expected(request, model.id)).toEqual({ completionTokens, seconds, exact: true })
      }
    })
  }

  test('is the maximum where the model decides', () => {
    const request = { content: [prompt], resolution: '720p', ratio: '16:9', duration: -1 }
    expect(expected(request, 'doubao-seedance-2-5-260628')).toEqual({
      ...{ completionTokens: 648_000, seconds: 30, exact: false },
    })
    expect(expected(request, 'doubao-seedance-2-0-260128').seconds).toBe(15)
    expect(expected({ content: [prompt] }, 'ep-20260101000000-video').seconds).toBe(30)
  })

  test('has the longest input where there is an input video', () => {
    const video = { type: 'video_url', video_url: { url: 'https://files.example/a.mp4' }, role: 'reference_video' }
    const request = { content: [prompt, video], resolution: '720p', ratio: '16:9', duration: 5 }
    expect(expected(request, 'doubao-seedance-2-0-260128').completionTokens).toBe(4 * 108_000)
  })

  test('of five seconds of 1280x720 is 108,000 tokens', () => {
    const request = { content: [prompt], resolution: '720p', ratio: '16:9', duration: 5 }
    expect(expected(request, 'doubao-seedance-2-0-260128')).toEqual({
      ...{ completionTokens: 108_000, seconds: 5, exact: true },
    })
  })

  test('is a number for anything that a caller may send', () => {
    for (const request of [
      { content: 'x' },
      { content: [prompt], resolution: 'x'.repeat(1_000), ratio: 7, duration: 1e300 },
      { content: [prompt], resolution: '8k', frames: -5, duration: -7 },
      { content: [{ ...prompt, text: '--dur 99999999999999999999 --rs' }] },
      { content: [null, 7, []], frames: 1.5 },
    ]) {
      const { completionTokens, seconds } = expected(request, 'm')
      expect(Number.isSafeInteger(completionTokens) && Number.isSafeInteger(seconds)).toBe(true)
      expect(completionTokens).toBeGreaterThan(0)
    }
  })
})
