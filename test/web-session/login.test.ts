import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { Problem } from '../../plugins/shared/problem.ts'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { sql } from '../../src/store/database/statement.ts'
import { ask, nobody, openFixture, rejection } from './fixture.ts'

const wrong = rejection('wrong name or password')

describe('a login', () => {
  test('with the right password returns the user and sets two cookies: the session and the device', async () => {
    const { login, ann } = await openFixture()
    const reply = await login()
    expect([reply.status, reply.json]).toEqual([200, { success: true, user: { id: ann, name: 'ann' } }])
    expect(reply.headers.getSetCookie().map((cookie) => cookie.split('=', 1)[0])).toEqual(['session', 'session-device'])
    expect(reply.headers.get('cache-control')).toBe('no-store')
  })

  test('gets the same response for a wrong password, an unknown name, a disabled user and a user without a password', async () => {
    const { login, addUser, store } = await openFixture()
    await addUser('gone', 'right')
    await store.disableUser('gone', 5)
    await addUser('robot')
    const replies = [await login('ann', 'wrong'), await login(nobody()), await login('gone'), await login('robot')]
    const responses = replies.map(({ status, json, headers }) => JSON.stringify([status, json, [...headers].sort()]))
    expect(new Set(responses).size).toBe(1)
    expect([replies[0]?.status, replies[0]?.json]).toEqual([401, wrong])
  })

  test('computes exactly one hash in each of these cases', async () => {
    const { login, addUser, store, checked } = await openFixture()
    await addUser('gone', 'right')
    await store.disableUser('gone', 5)
    await addUser('robot')
    await login('ann', 'wrong')
    await login(nobody(), 'wrong')
    await login('gone', 'right')
    await login('robot', 'wrong')
    expect(checked).toEqual(['#right', undefined, undefined, undefined])
  })

  test('works with a hash of hashPassword', async () => {
    const { login, store } = await openFixture({ verify: undefined })
    await store.addUser({ name: 'bob', password: await hashPassword('correct horse'), createdAt: 1 })
    expect((await login('bob', 'correct horse')).status).toBe(200)
    expect((await login('bob', 'correct hors')).status).toBe(401)
    expect((await login(nobody(), 'correct horse')).status).toBe(401)
  })

  test('stores only the hash of the session id', async () => {
    const { login, database } = await openFixture()
    const { cookie } = await login()
    const [id = ''] = cookie.slice('session='.length).split('.')
    expect(Buffer.from(id, 'base64url')).toHaveLength(32)
    const rows = JSON.stringify(await database.query(sql`select * from sessions`))
    expect(rows).not.toContain(id)
    expect(rows).toContain(createHash('sha256').update(id).digest('hex'))
    expect(rows).not.toContain('#right')
  })

  test('starts a new session each time, and ends the previous session of the browser', async () => {
    const { login, whoIs } = await openFixture()
    const first = await login()
    const elsewhere = await login()
    const second = await login('ann', 'right', { cookie: first.cookie })
    expect(new Set([first.cookie, second.cookie, elsewhere.cookie]).size).toBe(3)
    expect((await whoIs(first.cookie)).status).toBe(401)
    expect((await whoIs(second.cookie)).status).toBe(200)
    expect((await whoIs(elsewhere.cookie)).status).toBe(200)
  })

  test('that fails does not end the session', async () => {
    const { login, whoIs } = await openFixture()
    const { cookie } = await login()
    const failed = await login('ann', 'wrong', { cookie })
    expect(failed.headers.get('set-cookie')).toBeNull()
    expect((await whoIs(cookie)).status).toBe(200)
  })

  test('starts no usable session when the password changes meanwhile', async () => {
    const fixture = await openFixture({
      verify: async (password, hash) => {
        const matches = hash === `#${password}`
        await fixture.store.setPassword('ann', '#other')
        return matches
      },
    })
    const { status, cookie } = await fixture.login()
    expect(status).toBe(200)
    expect((await fixture.whoIs(cookie)).status).toBe(401)
  })

  test('gets 503 and is not counted while too many passwords are being checked', async () => {
    let busy = true
    const fixture = await openFixture({
      addressOf: () => '192.0.2.1',
      verify: async () => {
        if (busy) throw new Problem(503, 'too many passwords are being checked', { headers: { 'retry-after': '1' } })
        return true
      },
    })
    for (let attempt = 0; attempt < 30; attempt++) expect((await fixture.login()).status).toBe(503)
    busy = false
    expect((await fixture.login()).status).toBe(200)
  })

  test('gets 500 without details when the store fails', async () => {
    const { options } = await openFixture()
    for (const broken of ['takeAttempt', 'userByName', 'addSession', 'revertAttempt'] as const) {
      const down = () => Promise.reject(new Error('secret database'))
      const fixture = await openFixture({ store: { ...options.store, [broken]: down } })
      const reply = await fixture.login()
      expect([broken, reply.status, reply.json]).toEqual([broken, 500, rejection('session could not be checked')])
      expect(reply.headers.get('set-cookie')).toBeNull()
    }
  })
})

describe('the body of a login', () => {
  const send = async (body: unknown, headers: Record<string, string> = {}) => {
    const { app, checked } = await openFixture()
    const { status, json } = await ask(app, 'POST', '/api/session', headers, body)
    return { reply: [status, json], checked }
  }

  for (const [title, body, status, message] of [
    ['invalid JSON', '{"name":', 400, 'request body is not valid JSON'],
    ['an array', '["ann","right"]', 400, 'request body must be a JSON object'],
    ['no password', { name: 'ann' }, 400, 'name and password must be strings'],
    ['no name', { password: 'right' }, 400, 'name and password must be strings'],
    ['a name that is not a string', { name: ['ann'], password: 'right' }, 400, 'name and password must be strings'],
    ['a password that is not a string', { name: 'ann', password: 1 }, 400, 'name and password must be strings'],
    [
      'a password of 1,025 bytes',
      { name: 'ann', password: `${'é'.repeat(512)}x` },
      400,
      'password must be at most 1024 bytes',
    ],
    ['9 KiB', { name: 'a'.repeat(9_000), password: 'right' }, 413, 'request body is too large'],
  ] as const) {
    test(`with ${title} is rejected before the password is checked`, async () => {
      const { reply, checked } = await send(body)
      expect(reply).toEqual([status, rejection(message)])
      expect(checked).toEqual([])
    })
  }

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
    test(`of ${type || 'no content type'} is rejected, because a form on a foreign page can send it`, async () => {
      const { reply, checked } = await send('{"name":"ann","password":"right"}', { 'content-type': type })
      expect(reply).toEqual([415, rejection('content type must be application/json')])
      expect(checked).toEqual([])
    })
  }

  test('may contain a password of 1,024 bytes', async () => {
    const { reply, checked } = await send({ name: 'ann', password: 'é'.repeat(512) })
    expect(reply).toEqual([401, wrong])
    expect(checked).toHaveLength(1)
  })

  for (const name of ['', 'ann\0', '\ud800', 'a'.repeat(7_000), '__proto__', "ann' or 1=1 --"]) {
    test(`with the unknown name ${JSON.stringify(name).slice(0, 20)} gets 401`, async () => {
      const { reply, checked } = await send({ name, password: 'right' })
      expect(reply).toEqual([401, wrong])
      expect(checked).toEqual([undefined])
    })
  }
})
