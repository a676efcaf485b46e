import { expect, test } from 'bun:test'
import { noLog } from '../../plugins/shared/problem.ts'
import { type CopyContext, copyResult } from '../../plugins/video-generation/results/copy.ts'

const now = 1_700_000_000_000
const minute = 60_000
const hour = 60 * minute

/** What the store is told after a copy has failed, so many milliseconds after the task has succeeded. */
const afterFailure = async (elapsedMs: number): Promise<unknown> => {
  const phase = elapsedMs < 10 * minute ? 'copying' : 'ended'
  const task = JSON.stringify({
    updated_at: (now - elapsedMs) / 1_000,
    content: { video_url: 'https://results.example/v.mp4' },
  })
  let told: unknown
  const context = {
    store: {
      leaseVideoCopy: async (id: string) => ({ id, user: 'ann', phase, task, createdAt: now - elapsedMs }),
      extendVideoCopy: async () => true,
      releaseVideoCopy: async (_: string, result: unknown, retryAt?: number) => {
        told = ['released', result, retryAt === undefined ? undefined : retryAt - now]
        return true
      },
      endVideoTask: async () => {
        told = ['ended']
        return true
      },
    },
    results: { keepMs: 1e9, copy: () => Promise.reject(new Error('no result')), remove: async () => {} },
    ...{ allowsHttp: false, clock: { now: () => now }, log: noLog },
  }
  await copyResult('task', context as unknown as CopyContext)
  return told
}

test('a result that cannot be copied is tried again after pauses that grow, until its link expires', async () => {
  expect(await afterFailure(0)).toEqual(['released', undefined, 5_000])
  expect(await afterFailure(minute)).toEqual(['released', undefined, 30_000])
  expect(await afterFailure(20 * minute)).toEqual(['released', undefined, 10 * minute])
  expect(await afterFailure(5 * hour)).toEqual(['released', undefined, 30 * minute])
  expect(await afterFailure(23.6 * hour)).toEqual(['released', undefined, undefined])
})
