import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import type { TextGenerationOptions, TextObject, UsageEntry } from '../../plugins/text-generation/index.ts'
import {
  createBackgroundUsageRecorder,
  pollBackgroundResponses,
} from '../../plugins/text-generation/objects/background-responses.ts'
import { UpstreamRejectedError, UpstreamUnreachableError } from '../../plugins/upstream-proxy/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { settled, sleepOn, VirtualClock } from '../support/virtual-clock.ts'
import { openApp, streaming, type UpstreamRequest } from './fixture.ts'

let store: Store
beforeEach(async () => {
  store = openStore('sqlite::memory:')
  await store.migrate()
})
afterEach(() => store.close())

let last = 0
const spent = { input_tokens: 7, output_tokens: 3 }
const tokens = { input: 7, cachedInput: 0, output: 3, reasoning: 0 }

/** Several apps with one store, like several processes, and an upstream with one background response. */
const open = (
  answer?: (asked: UpstreamRequest, response: object) => Response | undefined,
  more: Partial<TextGenerationOptions> = {},
) => {
  const id = `resp_${++last}`
  let status = 'queued'
  const response = () => ({
    id,
    object: 'response',
    background: true,
    status,
    output: [],
    usage: status === 'completed' ? spent : null,
  })
  const apps = [1, 2].map(() =>
    openApp((asked) => answer?.(asked, response()) ?? Response.json(response()), { objects: store, ...more }),
  )
  const [app, other] = apps as [ReturnType<typeof openApp>, ReturnType<typeof openApp>]
  const begin = (more: object = {}) => app.post('/responses', { model: 'm', input: 'x', background: true, ...more })
  return {
    id,
    app,
    begin,
    become: (next: string) => {
      status = next
    },
    get: async (from = app) => (await from.get(`/responses/${id}`)).json(),
    act: (method: string, below = '') =>
      app.ask(`/responses/${id}${below}`, { method, headers: { authorization: 'Bearer x' } }),
    other,
    usage: () => [...app.usage, ...other.usage],
  }
}

describe('the usage of a background response is recorded when it ends', () => {
  test('once, by the first process that reads its end', async () => {
    const it = open()
    expect(await (await it.begin()).json()).toMatchObject({ status: 'queued' })
    await it.get()
    it.become('in_progress')
    await it.get()
    expect(it.usage()).toEqual([])
    it.become('completed')
    await Promise.all([it.get(), it.get(it.other), it.get(), it.get(it.other)])
    await it.act('POST', '/cancel')
    await it.act('DELETE')
    expect(it.usage()).toEqual([{ user: 'ann', token: 't1', model: 'm', at: expect.any(Number), tokens }])
  })

  test('at once, when the first upstream response is already its end', async () => {
    const it = open()
    it.become('completed')
    await it.begin()
    await it.get()
    expect(it.usage()).toMatchObject([{ tokens }])
  })

  test('as unreported, when it is cancelled or deleted before its end', async () => {
    for (const method of ['POST', 'DELETE']) {
      const it = open()
      await it.begin()
      if (method === 'POST') it.become('cancelled')
      await it.act(method, method === 'POST' ? '/cancel' : '')
      await it.get()
      expect(it.usage()).toMatchObject([{ user: 'ann', tokens: undefined }])
    }
  })

  test('when it is deleted after an unread end', async () => {
    const deleted = { object: 'response.deleted', deleted: true }
    const it = open(({ method }) => (method === 'DELETE' ? Response.json(deleted) : undefined))
    await it.begin()
    it.become('completed')
    expect(await (await it.act('DELETE')).json()).toEqual(deleted)
    expect(it.app.asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'DELETE'])
    expect(it.usage()).toMatchObject([{ user: 'ann', tokens }])
  })

  test('when its stream is read to the end, but not when the stream is cancelled or breaks', async () => {
    const it = open((asked, response) => {
      const created = { type: 'response.created', sequence_number: 0, response }
      if (asked.method === 'POST') return streaming([created], 'stall', asked.signal)
      if (!asked.url.includes('stream=true')) return undefined
      if (asked.url.includes('starting_after=7')) return streaming([created], 'reset')
      return streaming([{ type: 'response.completed', sequence_number: 1, response: { ...response, usage: spent } }])
    })
    const reader = (await it.begin({ stream: true })).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await (await it.app.get(`/responses/${it.id}?stream=true&starting_after=7`)).text()
    await settled()
    expect(it.usage()).toEqual([])
    await (await it.app.get(`/responses/${it.id}?stream=true&starting_after=0`)).text()
    await (await it.other.get(`/responses/${it.id}?stream=true`)).text()
    expect(it.usage()).toMatchObject([{ tokens }])
  })

  test('but not for a failed creation', async () => {
    const it = open(() => Response.json({ error: { message: 'no' } }, { status: 429 }))
    expect((await it.begin()).status).toBe(429)
    expect(it.usage()).toEqual([])
  })
})

describe('a caller who disconnects before the id arrives', () => {
  /** An upstream that has received the call and has not responded yet. */
  const slow = (more: object = {}) => {
    const clock = new VirtualClock()
    const leaving = new AbortController()
    const answer = Promise.withResolvers<Response>()
    const it = open(({ method }) => (method === 'POST' ? (answer.promise as never) : undefined), { clock })
    const asked = it.app.post(
      '/responses',
      { model: 'm', input: 'x', background: true, ...more },
      { signal: leaving.signal },
    )
    return { it, clock, leaving, answer, asked: asked.then((response) => response.text()).catch(() => {}) }
  }

  for (const stream of [false, true]) {
    test(`is its owner, and its usage is recorded; stream: ${stream}`, async () => {
      const { it, clock, leaving, answer, asked } = slow({ stream })
      await settled()
      leaving.abort()
      await settled()
      expect(it.app.asked[0]?.signal.aborted).toBe(false)
      const queued = { id: it.id, object: 'response', status: 'queued', output: [] }
      answer.resolve(
        stream
          ? streaming([{ type: 'response.created', sequence_number: 0, response: queued }])
          : Response.json(queued),
      )
      // The store calls take several turns of the event loop.
      for (let turn = 0; turn < 5; turn++) await clock.pass(0)
      await asked
      it.become('completed')
      expect(await it.get()).toMatchObject({ id: it.id, status: 'completed' })
      expect(it.usage()).toMatchObject([{ user: 'ann', tokens }])
    })

    test(`the upstream call still has its timeout; stream: ${stream}`, async () => {
      const { it, clock, leaving, asked } = slow({ stream })
      await settled()
      leaving.abort()
      await clock.pass(199_999)
      expect(it.app.asked[0]?.signal.aborted).toBe(false)
      await clock.pass(1)
      expect(it.app.asked[0]?.signal.aborted).toBe(true)
      void asked
    })
  }

  test('and before the upstream call causes no call', async () => {
    const it = open()
    const asked = it.app.post(
      '/responses',
      { model: 'm', input: 'x', background: true },
      { signal: AbortSignal.abort() },
    )
    await asked.catch(() => {})
    expect(it.app.asked).toEqual([])
  })
})

test('the timeout does not apply to a background response', async () => {
  const clock = new VirtualClock()
  let release = (_: Response) => {}
  const app = openApp(
    () =>
      new Promise((resolve) => {
        release = resolve
      }),
    { clock, objects: store },
  )
  const answer = app.post('/responses', { model: 'm', input: 'x', background: true })
  await clock.pass(1_000_000)
  expect(app.asked[0]?.signal.aborted).toBe(false)
  const queued = { id: `resp_${++last}`, object: 'response', status: 'queued', output: [] }
  release(Response.json(queued))
  expect(await (await answer).json()).toEqual(queued)
})

describe('a background response that no caller reads', () => {
  const minute = 60_000

  /** A response whose poll is due, and several polling processes. */
  const left = async (
    retrieve: () => Promise<{ status?: unknown; usage?: unknown }>,
    more: Partial<TextObject> = {},
  ) => {
    const clock = new VirtualClock(100)
    const due: TextObject = {
      ...{ kind: 'response', id: `resp_${++last}`, user: 'ann', token: 't1', upstream: 'u', model: 'm' },
      ...{ createdAt: clock.now(), expiresAt: clock.now() + 1e9, dueAt: clock.now(), ...more },
    }
    await store.recordTextObjects([due])
    const entries: UsageEntry[] = []
    const asked: string[] = []
    const background = new Background({ sleep: sleepOn(clock) })
    const options = { store, clock, log: noLog, record: async (entry: UsageEntry) => void entries.push(entry) }
    const work = () =>
      pollBackgroundResponses(
        {
          ...options,
          recordBackground: createBackgroundUsageRecorder(options),
          retrieve: async ({ id }) => {
            asked.push(id)
            return retrieve()
          },
        },
        background,
      )
    work()
    work()
    return {
      ...{ clock, entries, asked, due },
      async end() {
        await background.stop()
        await store.markUsageRecorded(due.id)
      },
    }
  }

  test('is polled by one process at a time, with growing intervals, until it ends', async () => {
    let status = 'in_progress'
    const it = await left(async () => ({ status, usage: spent }))
    await it.clock.pass(0)
    expect(it.asked).toHaveLength(1)
    await it.clock.pass(60 * minute)
    const looks = it.asked.length
    expect(looks).toBeGreaterThan(5)
    expect(looks).toBeLessThan(25)
    expect(it.entries).toEqual([])
    status = 'completed'
    await it.clock.pass(60 * minute)
    expect(it.asked).toHaveLength(looks + 1)
    expect(it.entries).toMatchObject([{ user: 'ann', token: 't1', model: 'm', tokens }])
    await it.end()
  })

  test('is polled soon, also behind 300 of another user', async () => {
    const it = await left(async () => ({ status: 'completed', usage: spent }))
    const at = it.clock.now()
    const many = Array.from({ length: 300 }, (_, nth) => ({ ...it.due, id: `resp_many_${nth}`, user: 'bob' }))
    await store.recordTextObjects([...many, { ...it.due, id: 'resp_z', dueAt: at + 1 }])
    await it.clock.pass(minute / 2)
    expect(it.entries.filter(({ user }) => user === 'ann')).toHaveLength(2)
    await it.end()
  })

  test('counts as unreported when the upstream has deleted it or the record has expired', async () => {
    const gone = new UpstreamRejectedError({ status: 404, headers: new Headers(), bytes: new Uint8Array() })
    const it = await left(() => Promise.reject(gone))
    await it.clock.pass(minute)
    expect(it.entries).toMatchObject([{ tokens: undefined }])
    await it.end()
    const expired = await left(async () => ({ status: 'in_progress' }), { expiresAt: 1 })
    await expired.clock.pass(minute)
    expect([expired.asked, expired.entries]).toMatchObject([[], [{ tokens: undefined }]])
    await expired.end()
  })

  test('is polled again after an upstream error', async () => {
    let fails = true
    const it = await left(async () => {
      if (fails) throw new UpstreamUnreachableError(new Error('ECONNRESET'), true)
      return { status: 'completed', usage: spent }
    })
    await it.clock.pass(minute)
    expect(it.entries).toEqual([])
    fails = false
    await it.clock.pass(2 * minute)
    expect(it.entries).toMatchObject([{ tokens }])
    await it.end()
  })

  test('is polled by a server that starts later', async () => {
    const it = open()
    await it.begin()
    it.become('completed')
    const later = { now: () => Date.now() + minute, at: () => () => {} }
    const background = new Background()
    const asked: string[] = []
    const recorded = Promise.withResolvers<UsageEntry>()
    openApp(
      ({ url }) => {
        asked.push(url)
        return Response.json({ id: it.id, status: 'completed', usage: spent })
      },
      {
        ...{ objects: store, clock: later, background },
        usage: { recordUsage: async (entry) => recorded.resolve(entry) },
      },
    )
    expect(await recorded.promise).toMatchObject({ user: 'ann', token: 't1', model: 'm', tokens })
    expect(asked).toContain(`http://upstream.invalid/v1/responses/${it.id}`)
    await background.stop()
    await it.get()
    expect(it.usage()).toEqual([])
  })
})
