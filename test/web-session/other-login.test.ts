import { describe, expect, test } from 'bun:test'
import { beginSession } from '../../plugins/web-session/index.ts'
import { openFixture, rejection } from './fixture.ts'

describe('a session after a login of another kind', () => {
  test('is one like any other: it identifies its user, and ends with the password, the user, and the logout', async () => {
    const { options, store, ann, whoIs } = await openFixture()
    const begin = beginSession(options)
    const request = new Request('http://localhost/')
    const cookieOf = (header: string | undefined) => header?.split(';')[0] ?? ''
    const eve = await store.addUser({ name: 'eve', createdAt: 1 })
    const header = await begin(request, { id: eve ?? '', name: 'eve' })
    expect(header).toMatch(/^session=[\w-]{43}\.[\w+/]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    expect((await whoIs(cookieOf(header))).json.user).toEqual({ id: eve ?? '', name: 'eve' })
    await store.setPassword('eve', '#new')
    expect((await whoIs(cookieOf(header))).status).toBe(401)
    const second = cookieOf(await begin(request, { id: ann, name: 'ann', password: '#right' }))
    expect((await whoIs(second)).json.user).toEqual({ id: ann, name: 'ann' })
    // The next one replaces it in the same browser.
    const third = cookieOf(
      await begin(new Request('http://localhost/', { headers: { cookie: second } }), {
        ...{ id: ann, name: 'ann', password: '#right' },
      }),
    )
    expect([(await whoIs(second)).status, (await whoIs(third)).status]).toEqual([401, 200])
    await store.disableUser('ann', 2)
    expect((await whoIs(third)).status).toBe(401)
    expect(await begin(request, { id: ann, name: 'ann', password: '#right' })).toBeUndefined()
  })

  test('does not work with a password hash that is not the user’s', async () => {
    const { options, ann, whoIs } = await openFixture()
    const begin = beginSession(options)
    for (const password of [undefined, '#wrong']) {
      const header = await begin(new Request('http://localhost/'), { id: ann, name: 'ann', password })
      expect((await whoIs(header?.split(';')[0] ?? '')).status).toBe(401)
    }
  })
})

describe('without a login with a password', () => {
  test('the right password gets what any request gets, and is not checked', async () => {
    const { login, checked, app } = await openFixture({ passwordLogin: false })
    const replies = [await login(), await login('ann', 'wrong'), await login('nobody', 'x')]
    for (const { status, json, cookie } of replies)
      expect([status, json, cookie]).toEqual([403, rejection('users do not log in with a password here'), ''])
    expect(checked).toEqual([])
    // The body is not read.
    let pulled = 0
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 })
    const request = new Request('http://localhost/api/session', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect([(await app.handle(request)).status, pulled]).toEqual([403, 0])
  })

  test('sessions work', async () => {
    const { options, ann, whoIs } = await openFixture({ passwordLogin: false })
    const header = await beginSession(options)(new Request('http://localhost/'), {
      ...{ id: ann, name: 'ann', password: '#right' },
    })
    expect((await whoIs(header?.split(';')[0] ?? '')).status).toBe(200)
  })
})
