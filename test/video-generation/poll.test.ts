import { describe, expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json/json.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { UpstreamInvalidError, UpstreamRejectedError } from '../../plugins/shared/upstream/upstream-error.ts'
import { type PollContext, pollTasks } from '../../plugins/video-generation/queue/poll.ts'
import type { VideoMove } from '../../plugins/video-generation/store/queue.ts'
import type { VideoTask } from '../../plugins/video-generation/tasks/task.ts'
import { oneVideoAccount } from '../../plugins/video-generation/upstream/accounts.ts'
import type { VideoClient } from '../../plugins/video-generation/upstream/client.ts'

const now = 1_700_000_000_000
const minute = 60_000

const taskOf = (id: string, more: Partial<VideoTask> = {}): VideoTask =>
  ({
    ...{ id, upstreamId: `up-${id}`, user: 'ann', model: 'm', serviceTier: 'default', phase: 'submitted' },
    ...{ status: 'queued', fields: '{}', createdAt: now, submittedAt: now, dueAt: now, expiresAt: now + 1e8 },
    ...more,
  }) as VideoTask

/** What a poll stores. */
const movesOf = async (due: readonly VideoTask[], client: object): Promise<readonly VideoMove[]> => {
  const moves: VideoMove[] = []
  const context = {
    ...{ client, clock: { now: () => now }, log: noLog, pollMs: 3_000, maxRunningMs: 1e9, copies: false },
    accounts: oneVideoAccount(client as VideoClient),
    store: {
      dueVideoTasks: async () => due,
      async moveVideoTasks(some: readonly VideoMove[]) {
        moves.push(...some)
        return []
      },
    },
  }
  await pollTasks(context as unknown as PollContext)
  return moves
}

const runningOf = (id: string) => ({ id, status: 'running', json: readJson(`{"id":"${id}","status":"running"}`) })
const broken = () => Promise.reject(new UpstreamInvalidError('the response is not JSON'))

describe('a task that cannot be read', () => {
  test('is asked for less and less often, at least every ten minutes', async () => {
    const ages = [0, 5_000, minute, 9 * minute, 11 * minute, 600 * minute]
    const due = ages.map((age, nth) => taskOf(String(nth), { createdAt: now - age, submittedAt: now - age }))
    const list = async ({ ids }: { readonly ids: readonly string[] }) => {
      if (ids.some((id) => id !== 'up-good')) return broken()
      return { tasks: [runningOf('up-good')], total: 1 }
    }
    const moves = await movesOf([...due, taskOf('good')], { list })
    const pauses = new Map(moves.map(({ id, dueAt }) => [id, (dueAt ?? 0) - now]))
    expect(ages.map((_, nth) => pauses.get(String(nth)))).toEqual([
      ...[3_000, 5_000, minute, 9 * minute, 10 * minute, 10 * minute],
    ])
    expect(moves.find(({ id }) => id === 'good')?.status).toBe('running')
  })

  test('delays no other that no list has', async () => {
    const get = async (id: string) => (id === 'up-poisoned' ? broken() : runningOf(id))
    const list = async () => ({ tasks: [], total: 0 })
    const moves = await movesOf(
      ['poisoned', 'a', 'b'].map((id) => taskOf(id)),
      { list, get },
    )
    expect(moves.map(({ id, status }) => `${id} ${status}`).toSorted()).toEqual([
      ...['a running', 'b running', 'poisoned queued'],
    ])
  })
})

test('a tier that the upstream does not list delays no task of the other', async () => {
  const list = async ({ ids, serviceTier }: { readonly ids: readonly string[]; readonly serviceTier: string }) => {
    if (serviceTier === 'flex')
      throw new UpstreamRejectedError({ status: 503, headers: new Headers(), bytes: new Uint8Array() })
    return { tasks: ids.map(runningOf), total: ids.length }
  }
  const moves = await movesOf([taskOf('slow', { serviceTier: 'flex' }), taskOf('a'), taskOf('b')], { list })
  expect(moves.map(({ id, status }) => `${id} ${status}`)).toEqual(['a running', 'b running'])
})
