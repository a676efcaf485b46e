import { describe, expect, test } from 'bun:test'
import { browse, cookieOf, login, openFixture, send } from './fixture.ts'

/** The status of a request for the session. */
const sessionStatus = async (url: string, cookie: string, headers: Record<string, string> = {}) =>
  (await send(url, 'GET', '/api/session', undefined, { cookie, ...headers })).status

describe('the session cookie', () => {
  test('gets 401 when it is modified in any way', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const server = await fixture.start()
    const { cookie } = await browse(server, 'ann')
    const [id = '', signature = ''] = cookie.slice('session='.length).split('.')
    const flipped = (text: string, at: number) =>
      text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
    const modified = {
      'another id': `session=${flipped(id, 7)}.${signature}`,
      'another signature': `session=${id}.${flipped(signature, 7)}`,
      'the last bit of its signature': `session=${id}.${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`,
      'no signature': `session=${id}`,
      'an empty signature': `session=${id}.`,
      'a padded signature': `session=${id}.${signature}=`,
      quotes: `session="${id}.${signature}"`,
      'percent signs': `session=${encodeURIComponent(`${id}.${signature}`).replace('.', '%2E')}`,
      'another name': cookie.replace('session', 'Session'),
      'a prefix': `__Host-${cookie}`,
      'two cookies': `${cookie}; ${cookie}`,
      'two cookies, one of them empty': `session=; ${cookie}`,
      'a long value': `session=${'A'.repeat(10_000)}`,
      'an encoded null byte': `session=%00${id}.${signature}`,
    }
    for (const [change, text] of Object.entries(modified)) {
      expect([change, await sessionStatus(server.url, text)]).toEqual([change, 401])
    }
    expect(await sessionStatus(server.url, `a=b; ${cookie}; c=d`)).toBe(200)
    // A head above the server's limit: the server responds with an error or closes the connection.
    const status = await sessionStatus(server.url, `a=${'x'.repeat(200_000)}`).catch(() => 431)
    expect([401, 431]).toContain(status)
    expect(await sessionStatus(server.url, cookie)).toBe(200)
  })

  test('is not accepted as another credential, nor another credential as a session cookie', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const server = await fixture.start()
    const { cookie } = await browse(server, 'ann')
    const value = cookie.slice('session='.length)
    for (const [name, text] of [
      ['authorization', `Bearer ${value}`],
      ['authorization', `Bearer sk-${value.split('.')[0]}`],
      ['authorization', `Basic ${btoa('ann:correct horse')}`],
      ['x-session', value],
      ['session', value],
    ] as const) {
      expect([name, await sessionStatus(server.url, '', { [name]: text })]).toEqual([name, 401])
    }
    expect((await send(server.url, 'GET', `/api/session?${cookie}`)).status).toBe(401)
  })

  test('with a public address of https is Secure, has the prefix __Host-, and needs that origin', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const publicUrl = 'https://sluice.example'
    const server = await fixture.start({ PUBLIC_URL: publicUrl })
    const reply = await login(server.url, 'ann', { origin: publicUrl })
    expect(reply.headers.get('set-cookie')?.split(',')[0]).toMatch(
      /^__Host-session=[\w-]{43}\.[A-Za-z0-9+/]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    // A page of another host of the domain can set a cookie for the whole domain.
    const injected = (await login(server.url, 'ann', { origin: publicUrl })).headers.get('set-cookie')?.split(';')[0]
    expect(await sessionStatus(server.url, `${injected?.replace('__Host-', '')}; session=x; ${cookieOf(reply)}`)).toBe(
      200,
    )
    expect(await sessionStatus(server.url, `${injected?.replace('__Host-', '')}`)).toBe(401)
    expect((await login(server.url, 'ann', { origin: 'http://sluice.example' })).status).toBe(403)
    expect((await login(server.url, 'ann')).status).toBe(403)
    const cookie = cookieOf(reply)
    const out = (origin: string) => send(server.url, 'DELETE', '/api/session', undefined, { cookie, origin })
    expect((await out(server.url)).status).toBe(403)
    const gone = await out(publicUrl)
    expect(gone.headers.get('set-cookie')).toBe('__Host-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure')
  })

  test('survives a restart and a new first secret, until its own secret is removed', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const [oldSecret, newSecret] = ['the first secret of all', 'the second secret of all']
    const first = await fixture.start({ SESSION_SECRET: oldSecret })
    const before = (await browse(first, 'ann')).cookie
    await first.kill('SIGTERM')
    const both = await fixture.start({ SESSION_SECRET: `${newSecret},${oldSecret}` })
    expect(await sessionStatus(both.url, before)).toBe(200)
    const after = (await browse(both, 'ann')).cookie
    await both.kill('SIGKILL')
    const last = await fixture.start({ SESSION_SECRET: newSecret })
    expect(await sessionStatus(last.url, before)).toBe(401)
    expect(await sessionStatus(last.url, after)).toBe(200)
  })

  test('works in every process without a configured secret, also after a restart', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const [one, other] = await Promise.all([fixture.start(), fixture.start()])
    const { cookie } = await browse(one, 'ann')
    expect(await sessionStatus(other.url, cookie)).toBe(200)
    await one.kill('SIGKILL')
    expect(await sessionStatus((await fixture.start()).url, cookie)).toBe(200)
  })
})
