import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { CreationAttempt } from '../../plugins/idempotency/index.ts'
import { responseOf } from '../../plugins/shared/http/body/known-body.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { contentOf, openThings, problemOf, type Things } from './fixture.ts'

const day = 86_400_000
const reused = { status: 409, code: 'idempotency_key_reused', retryAfter: undefined }
const inUse = { status: 409, code: 'idempotency_key_in_use', retryAfter: '1' }

eachDatabase('a creation with an Idempotency-Key', (database) => {
  const stores: Store[] = []
  beforeAll(async () => {
    stores.push(await database.open(), await database.open())
  })
  const open = (options?: Parameters<typeof openThings>[1]) => openThings(stores, options)

  test('happens once, and each repetition gets the same response, from any process', async () => {
    const things = open()
    const first = await contentOf(await things.create('k'))
    expect(first).toEqual({
      ...{ status: 201, type: 'application/json;charset=utf-8', location: '/1', replayed: null },
      text: '{"thing":1}',
    })
    for (const by of [0, 1] as const) {
      const again = await things.create('k', { by })
      expect(again.headers.has('date')).toBeFalse()
      expect(await contentOf(again)).toEqual({ ...first, replayed: 'true' })
    }
    expect(things.made).toHaveLength(1)
  })

  test('without a key happens each time', async () => {
    const things = open()
    for (let times = 0; times < 3; times++) expect((await things.create(undefined)).status).toBe(201)
    expect(things.made).toHaveLength(3)
  })

  test('happens once when 20 requests come at the same time to two processes; the others get 409', async () => {
    const things = open()
    let rejected = 0
    const all = Promise.withResolvers<void>()
    const handle = async () => {
      await all.promise
      return new Response('the only one')
    }
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        things.create('k', { by: index % 2 ? 1 : 0, handle }).then(
          (response) => response.text(),
          (error: Problem) => {
            if (++rejected === 19) all.resolve()
            return error.status
          },
        ),
      ),
    )
    expect(results.filter((result) => result === 409)).toHaveLength(19)
    expect(results).toContain('the only one')
  })

  test('with another body is 409, also while the first is in progress or unknown', async () => {
    const things = open()
    await things.create('done')
    expect(await problemOf(things.create('done', { body: 'another thing' }))).toEqual(reused)
    await Promise.all([
      things.create('running', {
        async handle() {
          expect(await problemOf(things.create('running', { body: 'another thing' }))).toEqual(reused)
          expect(await problemOf(things.create('running', { by: 1 }))).toEqual(inUse)
          return new Response('done')
        },
      }),
    ])
    await problemOf(things.create('unknown', { handle: () => Promise.reject(new Error('lost')) }))
    expect(await problemOf(things.create('unknown', { body: 'another thing' }))).toEqual(reused)
    expect(things.made).toHaveLength(1)
  })

  test('is bound to its user and its route', async () => {
    const things = open()
    await things.create('k')
    await things.create('k', { user: 'bob' })
    await things.create('k', { route: 'another' })
    expect(things.made).toHaveLength(3)
    await things.create('k', { user: 'bob', by: 1 })
    expect(things.made).toHaveLength(3)
  })

  test('happens again after 24 hours', async () => {
    const things = open()
    await things.create('k')
    things.pass(day - 1)
    expect((await things.create('k')).headers.get('idempotent-replayed')).toBe('true')
    things.pass(1)
    expect((await things.create('k', { body: 'another thing' })).status).toBe(201)
    expect(things.made).toEqual(['a thing', 'another thing'])
  })

  test.each([
    ['', 400],
    ['a b', 400],
    ['a, b', 400],
    ['ä', 400],
    ['x'.repeat(256), 400],
    ['x'.repeat(255), 201],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', 201],
    ['!~', 201],
  ])('key %j: %d', async (key, status) => {
    const things = open()
    if (status === 201) expect((await things.create(key)).status).toBe(201)
    else expect(await problemOf(things.create(key))).toMatchObject({ status, code: 'idempotency_key_invalid' })
    expect(things.made).toHaveLength(status === 201 ? 1 : 0)
  })

  test('keeps responses of any bytes, and those without a body', async () => {
    const things = open()
    const bytes = new Uint8Array([0, 255, 128, 10, 0])
    const handles = [() => new Response(bytes), () => new Response(null, { status: 204 })]
    for (const [index, handle] of handles.entries()) {
      const key = `k${index}`
      const first = await things.create(key, { handle })
      const again = await things.create(key, { handle: () => new Response('other') })
      expect(again.status).toBe(first.status)
      expect(await again.bytes()).toEqual(await first.bytes())
    }
  })

  describe('that fails', () => {
    test.each([
      ['a problem', () => Promise.reject(new Problem(403, 'not yours'))],
      ['a response', async () => new Response('no', { status: 429 })],
    ])('with %s from 400 to 499 is not kept', async (_what, handle) => {
      const things = open()
      const failed = await things.create('k', { handle }).catch((error: Problem) => error)
      expect(failed.status).toBeLessThan(500)
      expect((await things.create('k', { body: 'a better thing' })).status).toBe(201)
      expect(things.made).toEqual(['a better thing'])
    })

    test.each([
      ['a problem', () => Promise.reject(new Problem(502, 'lost'))],
      ['an unexpected error', () => Promise.reject(new TypeError('x'))],
      ['a response', async () => new Response('no', { status: 500 })],
    ])('with %s from 500 stays unknown: 503, and it never happens twice', async (_what, handle) => {
      const things = open()
      await things.create('k', { handle }).catch(() => {})
      const unknown = { status: 503, code: 'create_outcome_unknown', retryAfter: '60' }
      for (const ms of [0, 1_000, day - 2_000]) {
        things.pass(ms)
        expect(await problemOf(things.create('k', { by: 1 }))).toEqual(unknown)
      }
      expect(things.made).toEqual([])
    })

    test('happens again if it has certainly created nothing', async () => {
      const things = open()
      const handle = () => Promise.reject(new Problem(502, 'never sent'))
      await things.create('k', { handle, mayHaveCreated: () => false }).catch(() => {})
      expect((await things.create('k')).status).toBe(201)
    })
  })

  describe('whose process has died', () => {
    /** Resolves with the id of an attempt that never ends. */
    const crash = (things: Things, key: string) =>
      new Promise<string | undefined>((resolve) => {
        const handle = (attempt?: CreationAttempt) => {
          resolve(attempt?.id)
          return new Promise<Response>(() => {})
        }
        void things.create(key, { handle })
      })

    test('is in progress until its lease is over, then unknown', async () => {
      const things = open({ leaseMs: 10_000 })
      await crash(things, 'k')
      things.pass(9_999)
      expect(await problemOf(things.create('k', { by: 1 }))).toEqual(inUse)
      things.pass(1)
      expect(await problemOf(things.create('k', { by: 1 }))).toMatchObject({ status: 503 })
    })

    test('is settled by one request; its result is kept', async () => {
      const things = open({ leaseMs: 10_000 })
      const attempt = await crash(things, 'k')
      things.pass(10_000)
      const settled: string[] = []
      // The one that settles waits until the others are refused, however slow they are.
      let refused = 0
      const over = Promise.withResolvers<void>()
      const note = () => {
        if (settled.length + refused === 4) over.resolve()
      }
      const settle = async ({ id, startedAt }: { id: string; startedAt: number }) => {
        settled.push(id)
        expect(startedAt).toBe(1_000_000)
        note()
        await over.promise
        return { outcome: 'created', response: Response.json({ thing: 'found' }) } as const
      }
      const create = (by: 0 | 1) =>
        things.create('k', { by, settle }).catch((error: unknown) => {
          refused++
          note()
          throw error
        })
      const results = await Promise.allSettled(([0, 1, 0, 1] as const).map(create))
      expect(settled as unknown[]).toEqual([attempt])
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const again = await things.create('k')
      expect([await again.json(), again.headers.get('idempotent-replayed')]).toEqual([{ thing: 'found' }, 'true'])
      expect(things.made).toEqual([])
    })

    test('is handled again when it has created nothing, as a new attempt', async () => {
      const things = open({ leaseMs: 10_000 })
      await crash(things, 'k')
      things.pass(10_000)
      const settled: string[] = []
      const settle = async ({ id }: { id: string }) => {
        settled.push(id)
        return { outcome: 'none' } as const
      }
      await problemOf(things.create('k', { settle, handle: () => Promise.reject(new Problem(500, 'lost again')) }))
      expect((await things.create('k', { by: 1, settle })).status).toBe(201)
      expect(things.made).toHaveLength(1)
      // The second attempt has an id of its own.
      expect(new Set(settled).size).toBe(2)
    })

    test('stays unknown when settling fails, and is settled by the next request', async () => {
      const things = open({ leaseMs: 10_000 })
      await crash(things, 'k')
      things.pass(10_000)
      const failing = () => Promise.reject(new Problem(502, 'upstream unavailable'))
      expect((await problemOf(things.create('k', { settle: failing }))).status).toBe(502)
      const later = async () => ({ outcome: 'unknown', retryAfterSeconds: 3.2 }) as const
      expect(await problemOf(things.create('k', { settle: later }))).toMatchObject({ status: 503, retryAfter: '4' })
      expect((await things.create('k', { settle: async () => ({ outcome: 'none' }) })).status).toBe(201)
    })

    test('is answered if it has remembered its response', async () => {
      const things = open({ leaseMs: 10_000 })
      const response = () => Response.json({ thing: 'durable' })
      await new Promise<void>((resolve) => {
        const handle = async (attempt?: CreationAttempt) => {
          await attempt?.remember(response())
          resolve()
          return new Promise<Response>(() => {})
        }
        void things.create('k', { handle })
      })
      expect(await (await things.create('k', { by: 1 })).json()).toEqual({ thing: 'durable' })
    })

    test('changes nothing when it goes on after its lease', async () => {
      const things = open({ leaseMs: 10_000 })
      const late = Promise.withResolvers<Response>()
      const started = Promise.withResolvers<void>()
      const handle = () => {
        started.resolve()
        return late.promise
      }
      const first = things.create('k', { handle })
      await started.promise
      things.pass(10_000)
      await things.create('k', { by: 1, settle: async () => ({ outcome: 'none' }) })
      late.resolve(new Response('late'))
      expect(await (await first).text()).toBe('late')
      expect(await (await things.create('k')).json()).toEqual({ thing: 1 })
      expect(things.warnings).toEqual(['a request took longer than the lease of its idempotency key'])
    })
  })

  test('an error after the response was remembered does not forget it', async () => {
    const things = open()
    const failing = things.create('k', {
      async handle(attempt) {
        await attempt?.remember(new Response('durable'))
        throw new Problem(500, 'late')
      },
    })
    expect((await problemOf(failing)).status).toBe(500)
    expect(await (await things.create('k')).text()).toBe('durable')
  })

  test('an error after the response could not be kept does not free the key', async () => {
    const keep = () => Promise.reject(new Error('disk full'))
    const [first] = stores
    if (!first) throw new Error('there is no store')
    const things = openThings([{ ...first, idempotency: { ...first.idempotency, keep } }])
    const failing = things.create('k', {
      async handle(attempt) {
        expect(await attempt?.remember(new Response('durable'))).toBeFalse()
        throw new Problem(403, 'late')
      },
    })
    expect((await problemOf(failing)).status).toBe(403)
    expect(await problemOf(things.create('k'))).toEqual(inUse)
  })

  test('a user has a maximum of keys; expired ones and those of others do not count', async () => {
    const things = open({ maxKeys: 3 })
    const [ann, bob] = [randomUUID(), randomUUID()]
    for (const key of ['1', '2', '3']) await things.create(key, { user: ann })
    things.pass(1_000)
    const full = { status: 429, code: 'idempotency_keys_exhausted', retryAfter: String(day / 1000 - 1) }
    expect(await problemOf(things.create('4', { user: ann }))).toEqual(full)
    // A kept key is still answered.
    expect((await things.create('3', { user: ann })).headers.get('idempotent-replayed')).toBe('true')
    await things.create('4', { user: bob })
    things.pass(day - 1_000)
    await things.create('4', { user: ann })
    expect(things.made).toHaveLength(5)
  })

  test('an expired key does not count before it is deleted', async () => {
    const user = randomUUID()
    const wanted = { user, route: 'r', fingerprint: 'f', holder: randomUUID() }
    const claim = (key: string, now: number) =>
      stores[0]?.idempotency.claim({ ...wanted, key, now, leaseUntil: now + 1, expiresAt: now + 10 }, 1)
    expect(await claim('1', 0)).toEqual({ state: 'claimed' })
    expect(await claim('2', 9)).toEqual({ state: 'full', freeAt: 10 })
    expect(await claim('2', 10)).toEqual({ state: 'claimed' })
  })

  test('a response that is too large is sent, but not repeated', async () => {
    const things = open({ maxResponseBytes: 10 })
    const long = 'x'.repeat(11)
    for (const response of [new Response(long), responseOf(long, {}), new Response(new Blob([long]).stream())]) {
      const key = randomUUID()
      expect(await (await things.create(key, { handle: () => response })).text()).toBe(long)
      expect(await problemOf(things.create(key))).toEqual(reused)
    }
    expect(things.made).toEqual([])
  })

  test('deletes expired keys in steps, as many as one minute may need', async () => {
    const [store] = stores
    if (!store) throw new Error('there is no store')
    const asked: number[] = []
    let expired = 120_500
    const counted: Store = {
      ...store,
      idempotency: {
        ...store.idempotency,
        async sweep(_, max) {
          const swept = Math.min(expired, max)
          expired -= swept
          asked.push(swept)
          return swept
        },
      },
    }
    const things = openThings([counted])
    await things.create('first')
    while (asked.length < 100) await new Promise((resolve) => setTimeout(resolve, 1))
    // A minute later, the rest.
    await things.create('second')
    expect(expired).toBe(20_500)
    things.pass(60_000)
    await things.create('third')
    while (expired > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(asked).toHaveLength(121)
    expect(asked.at(-1)).toBe(500)
  })

  test('expired keys are deleted while others are used', async () => {
    const things = open()
    const user = randomUUID()
    await things.create('old', { user })
    things.pass(day)
    await things.create('new', { user: randomUUID() })
    const deadline = Date.now() + 5_000
    while ((await stores[0]?.idempotency.sweep(1_000_000 + day, 1_000)) !== 0 && Date.now() < deadline) await null
    expect(await stores[0]?.idempotency.sweep(1_000_000 + day, 1_000)).toBe(0)
  })
})
