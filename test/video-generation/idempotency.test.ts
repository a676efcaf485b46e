import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../plugins/shared/clock.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, repeatedDatabases } from '../support/database.ts'
import {
  MODEL,
  openVideoFixture,
  text,
  until,
  type VideoFixture,
  type VideoFixtureOptions,
  type VideoUser,
} from './fixture.ts'

const body = { model: MODEL, content: [text('a cat')], resolution: '480p' }
const slots = { '*': { running: 1 } }
const replayed = ({ headers }: { readonly headers: Headers }) => headers.get('idempotent-replayed')
const create = (user: VideoUser, key: string, more: object = {}) =>
  user.send('POST', '', { ...body, ...more }, { 'idempotency-key': key })
const total = async (user: VideoUser) => (await user.send('GET', '')).json.total

describe.each([...repeatedDatabases])('a video task with an Idempotency-Key (%s)', (kind) => {
  /** With a database of its own: ids of emulated tasks repeat. */
  const open = async (options: (store: Store) => VideoFixtureOptions = () => ({})): Promise<VideoFixture> => {
    const database = await migratedDatabase(kind)
    const store = openStore(database.url, { deadlineMs: 60_000 })
    const fixture = await openVideoFixture({ store, ...options(store) })
    return {
      ...fixture,
      async [Symbol.asyncDispose]() {
        await fixture[Symbol.asyncDispose]()
        await store.close()
        await database.remove()
      },
    }
  }

  describe.each([
    ['without a queue', {}],
    ['with a queue', { slots }],
  ])('%s', (_what, gateway) => {
    test('is created once; repetitions get the same bytes, also later and from another process', async () => {
      await using fixture = await open(() => ({ gateway }))
      const { ann, bob, emulator } = fixture
      const first = await create(ann, 'k')
      expect([first.status, replayed(first)]).toEqual([200, null])
      const second = await create(ann, 'k2')
      for (const [key, { text: bytes }] of [
        ['k', first],
        ['k2', second],
      ] as const) {
        const again = await create(ann, key)
        expect([again.status, again.text, replayed(again)]).toEqual([200, bytes, 'true'])
      }
      expect(await total(ann)).toBe(2)
      expect(emulator.video.tasks().length).toBeLessThanOrEqual(2)
      expect((await ann.get(first.json.id)).status).toBe(200)
      // Another user has other keys.
      expect((await create(bob, 'k')).json.id).not.toBe(first.json.id)
    })

    test('of 10 parallel requests is created once; the others are 409 or get the same bytes', async () => {
      await using fixture = await open(() => ({ gateway }))
      const { ann } = fixture
      const replies = await Promise.all(Array.from({ length: 10 }, () => create(ann, 'k')))
      const ids = replies.filter(({ status }) => status === 200).map(({ json }) => json.id)
      expect(new Set(ids).size).toBe(1)
      for (const reply of replies.filter(({ status }) => status !== 200)) {
        expect([reply.status, reply.code, reply.headers.get('retry-after')]).toEqual([
          409,
          'idempotency_key_in_use',
          '1',
        ])
        expect(reply.json.error).toEqual({
          code: 'idempotency_key_in_use',
          message: 'an earlier request with this Idempotency-Key is still in progress',
          param: '',
          type: 'Conflict',
        })
      }
      expect(await total(ann)).toBe(1)
    })
  })

  test('with another body is 409, and with a key that is not valid 400', async () => {
    await using fixture = await open()
    const { ann } = fixture
    await create(ann, 'k')
    const reused = await create(ann, 'k', { resolution: '720p' })
    expect([reused.status, reused.code]).toEqual([409, 'idempotency_key_reused'])
    const invalid = await create(ann, 'a b')
    expect([invalid.status, invalid.code]).toEqual([400, 'idempotency_key_invalid'])
    expect(await total(ann)).toBe(1)
  })

  test('gets the same bytes from /v1/videos too, with the longest prompt', async () => {
    await using fixture = await open()
    const { ann, gateway, emulator } = fixture
    const ask = async (prompt: string): Promise<readonly [number, string, string | null]> => {
      const response = await fetch(`${gateway.url}/v1/videos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json', 'idempotency-key': 'k' },
        body: JSON.stringify({ model: MODEL, prompt, seconds: '4' }),
      })
      return [response.status, await response.text(), replayed(response)]
    }
    const prompt = '猫'.repeat(32_000)
    const [status, bytes] = await ask(prompt)
    expect([status, bytes.length > 32_000]).toEqual([200, true])
    expect(await ask(prompt)).toEqual([200, bytes, 'true'])
    expect((await ask('a dog'))[0]).toBe(409)
    expect(emulator.video.tasks()).toHaveLength(1)
  })

  test('is free again when the upstream or the gateway has rejected the request', async () => {
    await using fixture = await open()
    const { ann, emulator } = fixture
    expect((await create(ann, 'k', { resolution: '9p' })).status).toBe(400)
    expect((await create(ann, 'k', { priority: 99 })).status).toBe(400)
    expect((await create(ann, 'k', { content: [{ type: 'draft_task', draft_task: { id: 'cgt-no' } }] })).status).toBe(
      400,
    )
    emulator.faults.add({ kind: 'rate-limit', limit: 'inflight' })
    expect((await create(ann, 'k')).status).toBe(429)
    expect((await create(ann, 'k')).status).toBe(200)
  })

  test('whose answer was lost leads to the one task that the upstream has', async () => {
    await using fixture = await open(() => ({ gateway: { settleWaitMs: 1 } }))
    const { ann, emulator } = fixture
    emulator.faults.add({ kind: 'reset-after', api: 'video', action: 'CreateVideoTask' } as never)
    const lost = await create(ann, 'k')
    expect([200, 503]).toContain(lost.status)
    await until(async () => (await create(ann, 'k')).status === 200)
    const reply = await create(ann, 'k')
    expect(replayed(reply)).toBe('true')
    expect([emulator.video.tasks().length, await total(ann)]).toEqual([1, 1])
    expect((await ann.get(reply.json.id)).status).toBe(200)
  })

  describe('whose process has died', () => {
    /** A store whose answers get lost from some moment on, as if the process had died. */
    const dying = (store: Store) => {
      let offset = 0
      let isDead = false
      const never = () => new Promise<never>(() => {})
      const idempotency: Store['idempotency'] = {
        ...store.idempotency,
        keep: (...kept) => (isDead ? never() : store.idempotency.keep(...kept)),
      }
      return {
        clock: { ...systemClock, now: () => Date.now() + offset },
        idempotency,
        die: () => {
          isDead = true
        },
        revive(ms: number) {
          isDead = false
          offset += ms
        },
      }
    }

    test.each([
      ['without a queue', {}],
      ['with a queue', { slots }],
    ])('after the task was stored: the repetition gets its id (%s)', async (_what, gateway) => {
      let process = { die: () => {}, revive: (_ms: number) => {} }
      await using fixture = await open((store) => {
        const { clock, idempotency, ...more } = dying(store)
        process = more
        return { gateway: { ...gateway, clock, idempotency } }
      })
      const { ann, emulator } = fixture
      process.die()
      void create(ann, 'k').catch(() => {})
      await until(() => emulator.video.tasks().length === 1)
      await until(async () => (await ann.send('GET', '')).json.items[0]?.status === 'running')
      expect((await create(ann, 'k')).status).toBe(409)
      process.revive(60_000)
      const reply = await create(ann, 'k')
      const { items } = (await ann.send('GET', '')).json
      expect([reply.status, reply.json.id, items.length]).toEqual([200, items[0].id, 1])
      expect(emulator.video.tasks()).toHaveLength(1)
    })

    test('before the task was stored: the repetition creates it', async () => {
      let revive = (_ms: number) => {}
      const claims: unknown[] = []
      await using fixture = await open((store) => {
        const { clock, idempotency, ...more } = dying(store)
        revive = more.revive
        const claim: Store['idempotency']['claim'] = async (...wanted) => {
          const claimed = await store.idempotency.claim(...wanted)
          return claims.push(claimed) === 1 ? new Promise(() => {}) : claimed
        }
        return { gateway: { clock, idempotency: { ...idempotency, claim } } }
      })
      const { ann, emulator } = fixture
      void create(ann, 'k').catch(() => {})
      await until(() => claims.length === 1)
      expect((await create(ann, 'k')).status).toBe(409)
      revive(60_000)
      expect((await create(ann, 'k')).status).toBe(200)
      expect([emulator.video.tasks().length, await total(ann)]).toEqual([1, 1])
    })
  })

  test('a process that was suspended until its lease was over stores no task', async () => {
    let time = Date.now()
    await using fixture = await open((store) => {
      const claim: Store['idempotency']['claim'] = async (...wanted) => {
        const claimed = await store.idempotency.claim(...wanted)
        time += 60_000
        return claimed
      }
      const clock = { ...systemClock, now: () => time }
      return { gateway: { clock, idempotency: { ...store.idempotency, claim } } }
    })
    expect((await create(fixture.ann, 'k')).status).toBe(503)
    expect([fixture.emulator.video.tasks().length, await total(fixture.ann)]).toEqual([0, 0])
  })
})
