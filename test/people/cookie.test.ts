import { describe, expect, test } from 'bun:test'
import { browse, cookieOf, login, openOffice, send } from './fixture.ts'

const who = async (url: string, cookie: string, headers: Record<string, string> = {}) =>
  (await send(url, 'GET', '/api/session', undefined, { cookie, ...headers })).status

describe('a cookie over the wire', () => {
  test('that is bent in any way is nobody’s, and costs no more than a refusal', async () => {
    await using office = await openOffice()
    await office.addPerson('ann')
    const server = await office.start()
    const { cookie } = await browse(server, 'ann')
    const [id = '', signature = ''] = cookie.slice('session='.length).split('.')
    const flipped = (text: string, at: number) =>
      text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
    const bent = {
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
      'two of them': `${cookie}; ${cookie}`,
      'two, one of them empty': `session=; ${cookie}`,
      'much else': `session=${'A'.repeat(10_000)}`,
      'a null byte’s name': `session=%00${id}.${signature}`,
    }
    for (const [how, text] of Object.entries(bent)) expect([how, await who(server.url, text)]).toEqual([how, 401])
    expect(await who(server.url, `a=b; ${cookie}; c=d`)).toBe(200)
    // More than the server reads of a head: it says so, or hangs up.
    const status = await who(server.url, `a=${'x'.repeat(200_000)}`).catch(() => 431)
    expect([401, 431]).toContain(status)
    expect(await who(server.url, cookie)).toBe(200)
  })

  test('is no other credential, and no other credential is it', async () => {
    await using office = await openOffice()
    await office.addPerson('ann')
    const server = await office.start()
    const { cookie } = await browse(server, 'ann')
    const value = cookie.slice('session='.length)
    for (const [name, text] of [
      ['authorization', `Bearer ${value}`],
      ['authorization', `Bearer sk-${value.split('.')[0]}`],
      ['authorization', `Basic ${btoa('ann:correct horse')}`],
      ['x-session', value],
      ['session', value],
    ] as const) {
      expect([name, await who(server.url, '', { [name]: text })]).toEqual([name, 401])
    }
    expect((await send(server.url, 'GET', `/api/session?${cookie}`)).status).toBe(401)
  })

  test('goes over https alone where that is how browsers come, no neighbour can plant another one, and the origin is that one', async () => {
    await using office = await openOffice()
    await office.addPerson('ann')
    const publicUrl = 'https://sluice.example'
    const server = await office.start({ PUBLIC_URL: publicUrl })
    const reply = await login(server.url, 'ann', { origin: publicUrl })
    expect(reply.headers.get('set-cookie')?.split(',')[0]).toMatch(
      /^__Host-session=[\w-]{43}\.[A-Za-z0-9+/]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    // What a page of another host of the domain can set for all of them.
    const planted = (await login(server.url, 'ann', { origin: publicUrl })).headers.get('set-cookie')?.split(';')[0]
    expect(await who(server.url, `${planted?.replace('__Host-', '')}; session=x; ${cookieOf(reply)}`)).toBe(200)
    expect(await who(server.url, `${planted?.replace('__Host-', '')}`)).toBe(401)
    expect((await login(server.url, 'ann', { origin: 'http://sluice.example' })).status).toBe(403)
    expect((await login(server.url, 'ann')).status).toBe(403)
    const cookie = cookieOf(reply)
    const out = (origin: string) => send(server.url, 'DELETE', '/api/session', undefined, { cookie, origin })
    expect((await out(server.url)).status).toBe(403)
    const gone = await out(publicUrl)
    expect(gone.headers.get('set-cookie')).toBe('__Host-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure')
  })

  test('outlives a restart, and a new secret before the old one; not the old one’s end', async () => {
    await using office = await openOffice()
    await office.addPerson('ann')
    const [old, young] = ['the first secret of all', 'the second secret of all']
    const first = await office.start({ SESSION_SECRET: old })
    const before = (await browse(first, 'ann')).cookie
    await first.kill('SIGTERM')
    const both = await office.start({ SESSION_SECRET: `${young},${old}` })
    expect(await who(both.url, before)).toBe(200)
    const after = (await browse(both, 'ann')).cookie
    await both.kill('SIGKILL')
    const last = await office.start({ SESSION_SECRET: young })
    expect(await who(last.url, before)).toBe(401)
    expect(await who(last.url, after)).toBe(200)
  })

  test('is known to every process without a configured secret, now and after a restart', async () => {
    await using office = await openOffice()
    await office.addPerson('ann')
    const [one, other] = await Promise.all([office.start(), office.start()])
    const { cookie } = await browse(one, 'ann')
    expect(await who(other.url, cookie)).toBe(200)
    await one.kill('SIGKILL')
    expect(await who((await office.start()).url, cookie)).toBe(200)
  })
})
