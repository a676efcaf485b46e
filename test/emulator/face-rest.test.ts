import { afterEach, expect, test } from 'bun:test'
import type { Emulator } from '../../src/emulator/index.ts'
import { ark, rest } from './client.ts'
import { face, open, press, start, stopAll } from './face-client.ts'

afterEach(stopAll)

async function createTask(emulator: Emulator) {
  const { json } = await face(emulator, 'POST', '', '{}')
  const id = String(json.verification_id)
  const status = async () => (await face(emulator, 'GET', `/${id}`)).json.status
  const token = new URL(json.h5_url).searchParams.get('bytedToken') ?? ''
  return { id, token, link: String(json.h5_url), status }
}

/** Finishes the session as the user would, and follows the redirect. */
async function finishAndReturn(emulator: Emulator, token: string, decision: 'succeed' | 'fail') {
  return open(emulator.face.finish(token, decision) ?? '')
}

test('a new task has an id, a status, a link, and its expiry in seconds', async () => {
  const emulator = await start({ clock: () => 1_760_000_000_999 })
  const { status, json, text } = await face(emulator, 'POST', '', '{"return_url":"https://x.test","n":1}')
  expect(status).toBe(200)
  expect(Object.keys(json)).toEqual(['verification_id', 'status', 'h5_url', 'expires_at'])
  expect(json).toMatchObject({ status: 'waiting_user', expires_at: 1_760_001_800 })
  expect(json.h5_url).toStartWith(`${emulator.origin}/h5/`)
  expect(text).not.toContain('&')
  const [session] = emulator.face.sessions()
  expect(session).toMatchObject({ verificationId: json.verification_id, state: 'waiting' })
})

test('the body is any JSON object or empty', async () => {
  const emulator = await start()
  for (const body of [undefined, '', '{}', '{"a":{"b":[1]}}']) {
    expect((await face(emulator, 'POST', '', body)).status).toBe(200)
  }
  for (const body of ['[]', '7', 'null', 'text', '{"a":']) {
    const { status, json } = await face(emulator, 'POST', '', body)
    expect([status, json.success, json.error.type]).toEqual([400, false, 'media_proxy_error'])
  }
  expect(emulator.face.sessions()).toHaveLength(4)
})

test('after success and the callback, the task is verified and has the group id', async () => {
  const emulator = await start()
  const { id, link } = await createTask(emulator)
  const { json } = await face(emulator, 'GET', `/${id}`)
  expect(json).toEqual({ verification_id: id, status: 'waiting_user' })
  const sent = await press(link, 'succeed')
  expect(sent.status).toBe(303)
  const back = await open(sent.headers.get('location') ?? '')
  expect([back.status, back.text]).toEqual([200, expect.stringContaining('Check received')])
  const [group] = emulator.library.groups()
  const verified = { verification_id: id, status: 'verified', group_id: group?.id }
  for (let n = 0; n < 2; n++) expect((await face(emulator, 'GET', `/${id}`)).json).toEqual(verified)
  expect(group?.type).toBe('LivenessFace')
  expect((await rest(emulator, 'GET', '/assets/groups?GroupType=LivenessFace')).Result.Items).toHaveLength(1)
})

test('faceResolvingMs delays the result: callback_received, resolving, verified', async () => {
  const emulator = await start({ faceResolvingMs: 1000, clock: () => 1_760_000_000_000 })
  const { id, token, status } = await createTask(emulator)
  await finishAndReturn(emulator, token, 'succeed')
  expect(await status()).toBe('callback_received')
  emulator.library.advance(499)
  expect(await status()).toBe('callback_received')
  emulator.library.advance(1)
  expect(await status()).toBe('resolving')
  emulator.library.advance(499)
  expect((await face(emulator, 'GET', `/${id}`)).json).toEqual({ verification_id: id, status: 'resolving' })
  emulator.library.advance(1)
  expect(await status()).toBe('verified')
  emulator.library.advance(3_600_000)
  expect(await status()).toBe('verified')
})

test('a failed check goes through the same states to failed', async () => {
  const emulator = await start({ faceResolvingMs: 1000, clock: () => 1_760_000_000_000 })
  const { token, status } = await createTask(emulator)
  const page = await finishAndReturn(emulator, token, 'fail')
  expect(page.status).toBe(200)
  const seen = [await status()]
  for (let n = 0; n < 2; n++) {
    emulator.library.advance(500)
    seen.push(await status())
  }
  expect(seen).toEqual(['callback_received', 'resolving', 'failed'])
  expect((await reloadCallback(emulator, token))?.text).toContain('Check not passed')
  expect(emulator.library.groups()).toEqual([])
})

/** Requests the callback URL again, as a browser does on reload. */
async function reloadCallback(emulator: Emulator, token: string) {
  const session = emulator.face.sessions().find(({ bytedToken }) => bytedToken === token)
  return session && open(`${session.callbackUrl}?bytedToken=${token}&resultCode=20001`)
}

test('a task expires when the user closes the page, never opens it, or never returns', async () => {
  const emulator = await start()
  const [closed, absent, lost] = [await createTask(emulator), await createTask(emulator), await createTask(emulator)]
  emulator.face.finish(closed.token, 'close')
  emulator.face.finish(lost.token, 'succeed')
  const all = () => Promise.all([closed, absent, lost].map(({ status }) => status()))
  expect(await all()).toEqual(['waiting_user', 'waiting_user', 'waiting_user'])
  emulator.library.advance(30 * 60_000)
  expect(await all()).toEqual(['expired', 'expired', 'expired'])
  expect((await open(absent.link)).status).toBe(410)
})

test('a result after the expiry does not change the expired task', async () => {
  const emulator = await start({ faceResolvingMs: 60_000, faceSessionMs: 120_000, clock: () => 1_760_000_000_000 })
  const { token, status } = await createTask(emulator)
  emulator.library.advance(60_000)
  await finishAndReturn(emulator, token, 'succeed')
  emulator.library.advance(59_999)
  expect(await status()).toBe('resolving')
  emulator.library.advance(1)
  expect(await status()).toBe('expired')
})

test('a callback after the expiry has no effect', async () => {
  const emulator = await start()
  const { token, status } = await createTask(emulator)
  const back = emulator.face.finish(token, 'succeed') ?? ''
  emulator.library.advance(30 * 60_000)
  expect((await open(back)).status).toBe(410)
  expect(await status()).toBe('expired')
})

test('a forged callback never leads to verified, and a wrong state or token is 404', async () => {
  const emulator = await start()
  const [mine, other] = [await createTask(emulator), await createTask(emulator)]
  const [{ callbackUrl = '' } = {}] = emulator.face.sessions()
  for (const bad of [
    `${callbackUrl}?resultCode=10000`,
    `${callbackUrl}?bytedToken=${mine.token}`,
    `${callbackUrl}?bytedToken=${other.token}&resultCode=10000`,
    `${callbackUrl}x?bytedToken=${mine.token}&resultCode=10000`,
    `${emulator.origin}/h5/callback/?bytedToken=${mine.token}&resultCode=10000`,
  ]) {
    expect((await open(bad)).status).toBe(404)
  }
  const forged = `${callbackUrl}?bytedToken=${mine.token}&resultCode=10000`
  for (const method of ['HEAD', 'POST']) expect((await open(forged, {}, method)).status).toBe(405)
  expect(await mine.status()).toBe('waiting_user')
  await open(forged)
  expect(await mine.status()).toBe('resolving')
  // only the first callback counts
  await open(forged.replace('10000', '20001'))
  expect(await mine.status()).toBe('resolving')
  emulator.face.finish(mine.token, 'succeed')
  expect([await mine.status(), await other.status()]).toEqual(['verified', 'waiting_user'])
})

test('an unknown id, path, method or key gets an error in the service’s own format', async () => {
  const emulator = await start()
  const { id } = await createTask(emulator)
  const rejected = (message: string) => ({ success: false, error: { message, type: 'media_proxy_error' } })
  expect(await face(emulator, 'GET', '/verification-1')).toMatchObject({
    status: 404,
    json: rejected('verification not found'),
  })
  expect((await face(emulator, 'GET', `/${id}/more`)).status).toBe(404)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', `/${id}`],
    ['POST', `/${id}`],
  ] as const) {
    const { status, json } = await face(emulator, method, path)
    expect([status, json.success]).toEqual([405, false])
  }
  for (const method of ['GET', 'POST']) {
    const { status, json } = await face(emulator, method, method === 'GET' ? `/${id}` : '', undefined, 'wrong')
    expect([status, json.error.type]).toEqual([401, 'media_proxy_error'])
  }
  expect(emulator.face.sessions()).toHaveLength(1)
  // the asset library of the same API keeps Ark's envelope
  expect((await rest(emulator, 'GET', '/assets/asset-20260101000000-aaaaa')).code).toBe('NotFound.asset_id')
})

test('an id that contains path segments reaches the resource of the resolved path', async () => {
  const emulator = await start()
  const { id } = await createTask(emulator)
  const response = await fetch(`${emulator.rest.url}/assets/x%2F..%2F..%2F..%2Fface-verifications%2F${id}`, {
    headers: { authorization: `Bearer ${emulator.rest.key}` },
  })
  expect(await response.json()).toMatchObject({ verification_id: id })
})

test('both APIs share the rate limits, the quota and the list of sessions', async () => {
  const now = 1_760_000_000_000
  const emulator = await start({ limits: { CreateVisualValidateSession: 2 }, clock: () => now, quota: 1 })
  await face(emulator, 'POST')
  const CallbackURL = 'https://gate.test/cb'
  expect((await ark(emulator, 'CreateVisualValidateSession', { CallbackURL }, now)).status).toBe(200)
  const { status, json } = await face(emulator, 'POST')
  expect([status, json.error.type]).toEqual([429, 'media_proxy_error'])
  expect(emulator.face.sessions().map((session) => session.verificationId !== undefined)).toEqual([true, false])
  const full = await start({ quota: 1 })
  full.library.addGroup({ name: 'g' })
  expect((await face(full, 'POST')).status).toBe(403)
})
