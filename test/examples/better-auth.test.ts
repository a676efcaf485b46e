import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from 'sluice/emulator'
import { ark } from 'sluice/upstream-proxy'
import { createHost } from '../../examples/better-auth.ts'
import { Browser } from './browser.ts'
import { serveHost } from './serve-host.ts'

const image = 'https://example.com/ann.png'

describe('better-auth: the users of better-auth own what they create', () => {
  let emulator: Emulator
  let host: Awaited<ReturnType<typeof serveHost>>
  let ann: Browser
  let bob: Browser

  beforeAll(async () => {
    emulator = await startEmulator({ processingMs: 0 })
    host = await serveHost((publicUrl) => createHost(publicUrl, ark(emulator.ark), emulator.text))
    ann = await signUp('ann')
    bob = await signUp('bob')
  })
  afterAll(async () => {
    await host.stop()
    await emulator.stop()
  })

  const signUp = async (name: string) => {
    const browser = new Browser(host.url)
    const user = { name, email: `${name}@example.com`, password: 'correct horse' }
    expect(await browser.send('POST', '/api/auth/sign-up/email', user)).toMatchObject({ status: 200 })
    return browser
  }

  const createGroup = async (browser: Browser, name: string): Promise<string> => {
    const { status, text } = await browser.send('POST', '/api/media/proxy/assets/groups', { Name: name })
    expect([status, text]).toEqual([200, expect.any(String)])
    return JSON.parse(text).Result.Id
  }

  const createAsset = async (browser: Browser, group: string): Promise<string> => {
    const asset = { GroupId: group, URL: image, AssetType: 'Image', Name: 'portrait' }
    const { status, text } = await browser.send('POST', '/api/media/proxy/assets', asset)
    expect([status, text]).toEqual([200, expect.any(String)])
    return JSON.parse(text).Result.Id
  }

  const chat = (browser: Browser, asset: string) =>
    browser.send('POST', '/v1/chat/completions', {
      model: 'doubao-seed-emulated',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `asset://${asset}` } }] }],
    })

  test('each user has groups and assets of their own', async () => {
    const asset = await createAsset(ann, await createGroup(ann, 'holidays'))
    expect(await ann.send('GET', `/api/media/proxy/assets/${asset}`)).toMatchObject({ status: 200 })
    expect(await bob.send('GET', `/api/media/proxy/assets/${asset}`)).toMatchObject({ status: 403 })
    expect(JSON.parse((await bob.send('GET', '/api/media/proxy/assets/groups')).text).Result.Items).toEqual([])
  })

  test('a chat may use the assets of its user only', async () => {
    const asset = await createAsset(ann, await createGroup(ann, 'chat'))
    expect(await chat(ann, asset)).toMatchObject({ status: 200, text: expect.stringContaining('chat.completion') })
    expect(emulator.calls.at(-1)).toMatchObject({ api: 'text', body: expect.stringContaining(`asset://${asset}`) })
    emulator.clearCalls()
    expect((await chat(bob, asset)).status).toBe(403)
    expect(emulator.calls.filter(({ api }) => api === 'text')).toEqual([])
  })

  test('a face check on the phone gives its user a group', async () => {
    const path = '/api/media/face-verifications'
    const check = JSON.parse((await ann.send('POST', path, {})).text)
    expect(check).toMatchObject({ status: 'waiting_user', h5_url: expect.stringContaining(emulator.origin) })
    const callback = emulator.face.finish(emulator.face.sessions().at(-1)?.bytedToken ?? '', 'succeed') ?? ''
    expect(callback).toStartWith(host.url)
    expect((await new Browser(emulator.origin).send('GET', callback)).status).toBe(200)
    const verified = JSON.parse((await ann.send('GET', `${path}/${check.verification_id}`)).text)
    expect(verified).toMatchObject({ status: 'verified' })
    const group = `/api/media/proxy/assets/groups/${verified.group_id}`
    expect((await ann.send('GET', group)).status).toBe(200)
    expect((await bob.send('GET', group)).status).toBe(403)
    expect((await bob.send('GET', `${path}/${check.verification_id}`)).status).toBe(404)
  })

  describe('a program', () => {
    const withToken = async (browser: Browser) => {
      const { status, text } = await browser.send('POST', '/api/tokens', { label: 'laptop' })
      expect([status, text]).toEqual([200, expect.stringContaining('"token":"sk-')])
      const { id, token } = JSON.parse(text).token
      const groups = async () => {
        const headers = { authorization: `Bearer ${token}` }
        const response = await fetch(`${host.url}/api/media/proxy/assets/groups`, { headers })
        return { status: response.status, text: await response.text() }
      }
      /** Within a second, in every process. */
      const revoked = async () => {
        const deadline = Date.now() + 10_000
        while ((await groups()).status !== 401 && Date.now() < deadline) await Bun.sleep(20)
        return (await groups()).status === 401
      }
      return { id, token, groups, revoked }
    }

    test('uses a token of a user of better-auth, who lists and revokes it', async () => {
      await createGroup(ann, 'of the program')
      const { id, groups, revoked } = await withToken(ann)
      expect(await groups()).toMatchObject({ status: 200, text: expect.stringContaining('of the program') })
      expect(JSON.parse((await ann.send('GET', '/api/tokens')).text).tokens).toMatchObject([{ id, label: 'laptop' }])
      expect((await bob.send('DELETE', `/api/tokens/${id}`)).status).toBe(404)
      expect((await ann.send('DELETE', `/api/tokens/${id}`)).status).toBe(200)
      expect(await revoked()).toBe(true)
    })

    test('changes something without an origin, which only a cookie needs', async () => {
      const { token } = await withToken(ann)
      const create = (headers: Record<string, string>) =>
        fetch(`${host.url}/api/media/proxy/assets/groups`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ Name: crypto.randomUUID() }),
        })
      expect((await create({ authorization: `Bearer ${token}` })).status).toBe(200)
      expect((await create({ authorization: 'Bearer sk-0123456789' })).status).toBe(401)
    })

    test('cannot use the token of a user who has been deleted', async () => {
      const dora = await signUp('dora')
      const { groups, revoked } = await withToken(dora)
      expect((await groups()).status).toBe(200)
      expect((await dora.send('POST', '/api/auth/delete-user', { password: 'correct horse' })).status).toBe(200)
      expect(await revoked()).toBe(true)
    })
  })

  test('the page of the console knows the user of a session, until the logout', async () => {
    const eve = await signUp('eve')
    expect(JSON.parse((await eve.send('GET', '/api/session')).text)).toMatchObject({ user: { name: 'eve' } })
    expect(JSON.parse((await eve.send('GET', '/api/usage')).text)).toEqual({ success: true, usage: [] })
    expect((await eve.at('https://evil.example').send('DELETE', `${host.url}/api/session`)).status).toBe(403)
    expect((await eve.send('DELETE', '/api/session')).status).toBe(200)
    expect((await eve.send('GET', '/api/session')).status).toBe(401)
  })

  /** Every kind of change that a cookie could authorize. */
  const changes = [
    ['POST', '/api/media/proxy/assets/groups', { Name: 'injected' }],
    ['POST', '/api/media/face-verifications', {}],
    ['POST', '/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hello' }] }],
    ['POST', '/v1/responses', { model: 'm', input: 'hello' }],
    ['POST', '/api/tokens', {}],
    ['POST', '/api/auth/sign-out', {}],
  ] as const

  for (const [method, path, body] of changes) {
    test(`a page of another origin cannot ${method} ${path} with the cookie of its visitor`, async () => {
      emulator.clearCalls()
      expect((await ann.at('https://evil.example').send(method, host.url + path, body)).status).toBe(403)
      expect(emulator.calls).toEqual([])
    })
  }

  test('after the logout, the session authenticates no request', async () => {
    const cleo = await signUp('cleo')
    const stolen = cleo.at(host.url)
    expect((await stolen.send('GET', '/api/media/proxy/assets/groups')).status).toBe(200)
    expect((await cleo.send('POST', '/api/auth/sign-out', {})).status).toBe(200)
    expect((await stolen.send('GET', '/api/media/proxy/assets/groups')).status).toBe(401)
    expect((await stolen.send('GET', '/v1/models')).status).toBe(401)
  })
})
