import { describe, expect, test } from 'bun:test'
import { repeatedDatabases } from '../support/database.ts'
import { MODEL, openVideoFixture, text, until } from './fixture.ts'

describe.each(repeatedDatabases)('a task that no list can contain (%s)', (database) => {
  for (const kind of ['is too large', 'is not JSON', 'is a 400', 'is a 500', 'is cut off'] as const) {
    test(`because its response ${kind} delays no other task, and goes on when it can be read again`, async () => {
      const upstream = unreadable(kind)
      await using fixture = await openVideoFixture({ database, gateway: { fetch: upstream.fetch } })
      const { ann, bob, emulator } = fixture
      const poisoned = await ann.created('poisoned')
      upstream.poison(emulator.video.tasks()[0]?.id ?? '')
      const others = [
        await ann.created(),
        await bob.created(),
        await bob.created(),
        await ann.created(),
        await bob.created(),
      ]
      for (const task of emulator.video.tasks()) emulator.video.finish(task.id)
      for (const id of others)
        await until(async () => ((await bob.statusOf(id)) ?? (await ann.statusOf(id))) === 'succeeded')
      expect(await ann.statusOf(poisoned)).not.toBe('succeeded')
      upstream.heal()
      await until(async () => (await ann.statusOf(poisoned)) === 'succeeded')
    })
  }

  for (const kind of ['is not JSON', 'is a 500'] as const) {
    test(`because its response ${kind} does not hide the task of a lost answer, which is on the same page`, async () => {
      const upstream = unreadable(kind)
      await using fixture = await openVideoFixture({ database, gateway: { fetch: upstream.fetch } })
      const { ann, bob, emulator } = fixture
      await ann.created('poisoned')
      upstream.poison(emulator.video.tasks()[0]?.id ?? '')
      emulator.faults.add({ kind: 'reset-after', action: 'CreateVideoTask' })
      const id = await bob.created('lost')
      emulator.video.finish(emulator.video.tasks()[1]?.id ?? '')
      await until(async () => (await bob.statusOf(id)) === 'succeeded')
    })
  }
})

test.each([
  ['a 503', 'once', [4]],
  ['a 500', 'twice', [4, 1]],
] as const)('an upstream that responds with %s is asked %s for a batch', async (status, _, lengths) => {
  const upstream = unreadable(`is ${status}`, true)
  await using fixture = await openVideoFixture({ gateway: { fetch: upstream.fetch } })
  const { ann, emulator } = fixture
  const ids = [await ann.created(), await ann.created(), await ann.created(), await ann.created()]
  await until(() => upstream.lists.some((list) => list.length === 4))
  upstream.poison(emulator.video.tasks()[0]?.id ?? '')
  upstream.lists.length = 0
  await until(() => upstream.lists.length >= 5)
  expect(upstream.lists.slice(0, 4).map((list) => list.length)).toEqual(
    [0, 1, 2, 3].map((call) => lengths[call % lengths.length] ?? 0),
  )
  upstream.heal()
  for (const task of emulator.video.tasks()) emulator.video.finish(task.id)
  for (const id of ids) await until(async () => (await ann.statusOf(id)) === 'succeeded')
})

describe.each(repeatedDatabases)('a lost answer of a task with a slot (%s)', (database) => {
  test('is settled long before the lease ends, also when the task has ended, and the next task starts', async () => {
    await using fixture = await openVideoFixture({
      database,
      // The lease lasts 90 seconds, longer than this test may take.
      gateway: { slots: { '*': { running: 1 } }, createTimeoutMs: 60_000, settleMs: 60_000 },
      video: { runningMs: 0 },
    })
    const { ann, emulator } = fixture
    emulator.faults.add({ kind: 'reset-after', action: 'CreateVideoTask' })
    const id = await ann.created('short')
    const next = await ann.created('next')
    await until(async () => (await ann.statusOf(id)) === 'succeeded')
    await until(async () => (await ann.statusOf(next)) === 'succeeded')
    expect(emulator.video.tasks()).toHaveLength(2)
  })
})

describe('a request with much text', () => {
  test('is rejected, however the text is distributed; a prompt of 32,000 characters and a large picture pass', async () => {
    await using fixture = await openVideoFixture()
    const { ann, emulator } = fixture
    const long = 'x'.repeat(2 ** 18)
    for (const request of [
      { content: [text(long)] },
      { content: Array.from({ length: 5 }, () => text('x'.repeat(60_000))) },
      { content: [text('a')], resolution: long },
      { content: [text('a')], more: { deep: [long] } },
    ]) {
      const reply = await ann.send('POST', '', { model: MODEL, ...request })
      expect([reply.status, reply.json.error.param]).toEqual([400, 'content'])
    }
    expect(emulator.video.tasks()).toEqual([])
    const content = [text('\u732b'.repeat(32_000)), pictureOf(`data:image/png;base64,${'A'.repeat(400_000)}`)]
    expect((await ann.send('POST', '', { model: MODEL, content })).json.error?.param).not.toBe('content')
  })
})

const pictureOf = (url: string) => ({ type: 'image_url', image_url: { url }, role: 'reference_image' })

/** A `fetch` of the gateway before an upstream whose lists fail if they contain one task. @param all all lists fail then */
function unreadable(
  kind: 'is too large' | 'is not JSON' | 'is a 400' | 'is a 500' | 'is a 503' | 'is cut off',
  all = false,
) {
  const lists: (readonly string[])[] = []
  let poisoned = ''
  const answer = () => {
    if (kind === 'is too large') return new Response(`{"items":["${'x'.repeat(2 ** 24)}"]}`)
    if (kind === 'is not JSON') return new Response('{"items":[')
    if (kind === 'is cut off') throw new Error('the connection was closed')
    return Response.json({ error: { code: 'X', message: 'x' } }, { status: Number(kind.slice(-3)) })
  }
  return {
    /** The ids for which each list asked. */
    lists,
    poison(id: string) {
      poisoned = id
    },
    heal() {
      poisoned = ''
    },
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const response = await fetch(url, init)
      const { pathname, searchParams } = new URL(url)
      if (init.method !== 'GET' || !pathname.endsWith('/tasks')) return response
      lists.push(searchParams.getAll('filter.task_ids'))
      const body = await response.text()
      return poisoned !== '' && (all || body.includes(`"${poisoned}"`)) ? answer() : new Response(body, response)
    },
  }
}
