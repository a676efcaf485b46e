import { describe, expect, test } from 'bun:test'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { startGateway, userAt } from '../support/gateway.ts'
import { eachKind, newAsset } from './fixture.ts'

const password = 'correct horse'

const open = async (kindOf: (typeof eachKind)[number]['kindOf']) => {
  const gateway = await startGateway({ kindOf })
  const hash = await hashPassword(password)
  const logIn = async (name: string) => {
    const id = (await gateway.store.addUser({ name, password: hash, createdAt: 1 })) ?? ''
    const ask = (method: string, path: string, body?: object, cookie = '') =>
      fetch(gateway.url + path, {
        method,
        headers: { origin: gateway.url, cookie, ...(body && { 'content-type': 'application/json' }) },
        body: body && JSON.stringify(body),
        redirect: 'manual',
      })
    const cookie =
      (await ask('POST', '/api/session', { name, password })).headers.getSetCookie()[0]?.split(';')[0] ?? ''
    return { id, ask: (method: string, path: string, body?: object) => ask(method, path, body, cookie) }
  }
  return {
    gateway,
    ann: await logIn('ann'),
    bob: await logIn('bob'),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

const faces = '/api/media/face-verifications'

describe.each(eachKind)('face verification with an upstream of kind $kind', ({ kindOf }) => {
  test('creates a LivenessFace group for the user, which accepts images', async () => {
    await using place = await open(kindOf)
    const { gateway, ann, bob } = place
    const started = (await (await ann.ask('POST', faces, {})).json()) as Record<string, unknown>
    expect(started).toEqual({
      verification_id: expect.any(String),
      status: 'waiting_user',
      h5_url: expect.stringMatching(/^http/),
      expires_at: expect.any(Number),
    })
    const at = `${faces}/${started.verification_id}`
    expect(await (await ann.ask('GET', at)).json()).toMatchObject({ status: 'waiting_user' })
    expect((await bob.ask('GET', at)).status).toBe(404)

    const [session] = gateway.emulator.face.sessions()
    const callback = gateway.emulator.face.finish(session?.bytedToken ?? '', 'succeed') ?? ''
    expect((await fetch(callback, { headers: { 'accept-language': 'en' } })).status).toBe(200)
    let status: Record<string, unknown> = {}
    for (let tries = 0; tries < 50 && status.status !== 'verified'; tries++) {
      status = (await (await ann.ask('GET', at)).json()) as typeof status
    }
    expect(status).toEqual({
      verification_id: started.verification_id,
      status: 'verified',
      group_id: expect.any(String),
    })

    const made = (await (await ann.ask('POST', '/api/tokens', {})).json()) as { token: { token: string } }
    const caller = userAt(gateway.url, ann.id, made.token.token)
    const listed = await caller.ask('GET', '/assets/groups?GroupType=LivenessFace')
    expect(listed.json.Result.Items.map(({ Id }: { Id: string }) => Id)).toEqual([status.group_id])
    expect(await newAsset(caller, String(status.group_id), { GroupType: 'LivenessFace' })).toMatch(/^asset-/)
    expect((await bob.ask('GET', at)).status).toBe(404)
  })

  test('reports a failure and creates no group', async () => {
    await using place = await open(kindOf)
    const { gateway, ann } = place
    const { verification_id: id } = (await (await ann.ask('POST', faces)).json()) as { verification_id: string }
    const [session] = gateway.emulator.face.sessions()
    await fetch(gateway.emulator.face.finish(session?.bytedToken ?? '', 'fail') ?? '')
    expect(await (await ann.ask('GET', `${faces}/${id}`)).json()).toEqual({ verification_id: id, status: 'failed' })
  })

  test('rejects API tokens and foreign origins', async () => {
    await using place = await open(kindOf)
    const { gateway } = place
    const { token } = await gateway.addUser('carl')
    const authorization = `Bearer ${token}`
    expect(
      (await fetch(gateway.url + faces, { method: 'POST', headers: { authorization, origin: gateway.url } })).status,
    ).toBe(401)
    expect((await fetch(`${gateway.url}${faces}/x`, { headers: { authorization } })).status).toBe(401)
    expect(gateway.emulator.calls).toEqual([])
  })
})
