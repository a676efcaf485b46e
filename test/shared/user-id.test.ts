import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { createOwnership, ownership } from 'sluice/ownership'
import { isUserId, requireIdentity } from '../../plugins/shared/identity/identify.ts'
import { MemoryStore } from '../ownership/memory.ts'

const request = new Request('http://localhost/')

const refused: Readonly<Record<string, unknown>> = {
  'with a NUL': 'ann\0',
  'with a lone surrogate, which a database stores as that of another user': 'ann\ud800',
  'of 10 MiB': 'a'.repeat(10 * 2 ** 20),
  'of 1,025 bytes': 'a'.repeat(1_025),
  'of 1,026 bytes in 342 characters, which are too long for an index of PostgreSQL with other columns': '猫'.repeat(
    342,
  ),
  'that is a number': 5,
  'that is an array': ['ann'],
  'that is an object with a toString': { toString: () => 'ann' },
  'that is a String object': Object('ann'),
}

describe.each(Object.entries(refused))('a user id %s', (_, user) => {
  test('of an identity is a TypeError, before a guarded route runs', async () => {
    const identify = () => ({ user }) as never
    expect(() => requireIdentity(identify, request)).toThrow(TypeError)
    let runs = 0
    const app = new Elysia()
      .use(ownership({ store: new MemoryStore(), identify }))
      .get('/mine', () => `${++runs}`, { caller: true })
    expect((await app.handle(new Request('http://localhost/mine'))).status).toBe(500)
    expect(runs).toBe(0)
  })

  test('owns nothing, and the store is not asked', async () => {
    const store = new MemoryStore()
    const owners = createOwnership({ store })
    expect(await owners.groupsOf(user as never)).toEqual([])
    expect(store.calls).toEqual([])
  })
})

test.each([
  '__proto__',
  'constructor',
  'a'.repeat(1_024),
  '猫'.repeat(341),
  "o'hara; drop table",
  '\u{1f408}',
  ' ',
  '\n',
  '%00',
  '../bob',
])('the user id %p is one of its own', async (user) => {
  expect(isUserId(user)).toBe(true)
  const store = new MemoryStore()
  store.add({ id: 'g-1', user })
  store.add({ id: 'g-2', user: `${user}x`.slice(1) })
  const owners = createOwnership({ store })
  expect((await owners.groupsOf(user)).map(({ id }) => id)).toEqual(['g-1'])
})
