import { describe, expect, test } from 'bun:test'
import { adviceFor } from 'sluice/failure-advice'
import { toJson } from '../../plugins/shared/json/json.ts'
import type { JsonObject } from '../../plugins/shared/json/parsed.ts'
import type { VideoStatus } from '../../plugins/video-generation/tasks/statuses.ts'
import type { VideoTaskView } from '../../plugins/video-generation/tasks/tasks.ts'
import { toVideo } from '../../plugins/video-generation/videos/video.ts'

const notes = { prompt: 'a cat', model: 'sora-2', seconds: '4', size: '720x1280' }

const view = (status: VideoStatus, task: JsonObject = {}, more: Partial<VideoTaskView> = {}): VideoTaskView => {
  const hasEnded = status !== 'queued' && status !== 'running'
  return {
    ...{ id: 'cgt-1', status, model: 'seedance', createdAt: 1_000_900, endedAt: hasEnded ? 1_060_100 : undefined },
    ...{ body: toJson({ id: 'cgt-1', status, ...task }), queue: undefined, notes, result: undefined, ...more },
  }
}

describe('the video object', () => {
  test('of a task that waits', () => {
    expect(toVideo(view('queued'))).toEqual({
      ...{ id: 'cgt-1', object: 'video', created_at: 1_000, completed_at: null, expires_at: null },
      ...{ status: 'queued', progress: 0, error: null, remixed_from_video_id: null, ...notes },
    })
  })

  test('of a task with a result says when it ended and until when it can be downloaded', () => {
    const result = { expiresAt: 9_000_000, copies: {}, links: {} }
    const video = toVideo(view('succeeded', { duration: 5, resolution: '720p', ratio: '9:16' }, { result }))
    expect(video).toMatchObject({
      ...{ status: 'completed', progress: 100, completed_at: 1_060, expires_at: 9_000 },
      ...{ seconds: '5', size: '720x1280', error: null },
    })
  })

  test('has only the statuses of the OpenAI API, and says in the error what ended the task', () => {
    const error = { code: 'OutputVideoSensitiveContentDetected', message: 'no' }
    const ended = (status: VideoStatus, task = {}) => {
      const { status: shown, error } = toVideo(view(status, task))
      return { shown, error }
    }
    expect(ended('running', { error: null })).toEqual({ shown: 'in_progress', error: null })
    expect(ended('succeeded', { error: null })).toEqual({ shown: 'completed', error: null })
    expect(ended('failed', { error: { ...error, param: 'a' } })).toEqual({
      shown: 'failed',
      error: { ...error, advice: adviceFor(error.code) },
    })
    expect(ended('failed', { error: null }).error?.code).toBe('failed')
    const result = { expiresAt: 9_000_000, copies: {}, links: {} }
    expect(toVideo(view('failed', {}, { result }))).toMatchObject({ completed_at: null, expires_at: null })
    expect(ended('cancelled').error).toMatchObject({
      ...{ code: 'cancelled', message: 'The task is cancelled.' },
      advice: { retry: true, text: { en: expect.stringContaining('cancelled') } },
    })
    expect(ended('failed', { error: { code: 'Unknown', message: 'no' } }).error).toEqual({
      code: 'Unknown',
      message: 'no',
    })
    expect(ended('expired')).toMatchObject({ shown: 'failed', error: { code: 'expired' } })
  })

  test('the progress never decreases, whatever the next status is', () => {
    const next: Partial<Record<VideoStatus, VideoStatus[]>> = {
      queued: ['running', 'succeeded', 'failed', 'expired', 'cancelled'],
      running: ['succeeded', 'failed', 'expired'],
    }
    for (const [from, statuses] of Object.entries(next)) {
      for (const to of statuses) {
        const { progress } = toVideo(view(from as VideoStatus))
        expect(toVideo(view(to)).progress).toBeGreaterThanOrEqual(progress)
        expect(Number.isInteger(progress)).toBeTrue()
      }
    }
  })

  test('has the size that the video really has', () => {
    const size = (task: JsonObject, more?: Partial<VideoTaskView>) => toVideo(view('succeeded', task, more)).size
    expect(size({ resolution: '720p', ratio: '16:9' })).toBe('1280x720')
    expect(size({ resolution: '720p', ratio: '9:16' })).toBe('720x1280')
    expect(size({ resolution: '720p', ratio: 'adaptive' })).toBe('720x1280')
    const legacy = { notes: { ...notes, size: '1248x704' } }
    expect(size({ resolution: '720p', ratio: '16:9' }, legacy)).toBe('1248x704')
  })

  test('before its end has the length and the size that were asked for', () => {
    const repeated = { duration: 8, resolution: '720p', ratio: '16:9' }
    expect(toVideo(view('running', repeated))).toMatchObject({ seconds: '4', size: '720x1280' })
    expect(toVideo(view('running', repeated, { notes: undefined }))).toMatchObject({ seconds: '8', size: '1280x720' })
  })

  test('of a task of the native API has what is known of it', () => {
    const native = { notes: undefined }
    expect(toVideo(view('queued', {}, native))).toMatchObject({
      ...{ model: 'seedance', prompt: null, seconds: '0', size: 'auto' },
    })
    const task = { duration: 10, resolution: '480p', ratio: '1:1' }
    expect(toVideo(view('succeeded', task, native))).toMatchObject({ seconds: '10', size: '640x640' })
    expect(toVideo(view('queued', { duration: -1 }, native)).seconds).toBe('0')
  })
})
