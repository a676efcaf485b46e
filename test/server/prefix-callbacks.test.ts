import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { describeWithBrowser, openBrowser } from '../console/browser.ts'
import { MODEL, text } from '../emulator/video-client.ts'
import { fronts } from '../support/fronts.ts'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { arkOf, type Fixture, faces, openFixture, password, until } from './fixture.ts'
import { startProxy } from './prefix-proxy.ts'

setDefaultTimeout(300_000)

/** A server whose users reach it below a prefix only, and its user ann with a session. */
const openPrefixed = async (runtime: Runtime, getBodies: 'on' | 'off') => {
  const proxy = await startProxy('/team/gateway')
  const fixture: Fixture = await openFixture('sqlite')
  await fixture.addPerson('ann')
  const { url: VIDEO_UPSTREAM_URL, key: VIDEO_UPSTREAM_KEY } = fixture.emulator.video
  const server: ServerProcess = await fixture.start(
    {
      ...arkOf(fixture),
      ...{ VIDEO_UPSTREAM_URL, VIDEO_UPSTREAM_KEY, PUBLIC_URL: proxy.url, GET_BODIES: getBodies },
      // Longer than the test: only a callback can end a task in time.
      ...{ VIDEO_POLL_SECONDS: '3600' },
    },
    runtime,
  )
  proxy.to(server.url)
  const { origin } = new URL(proxy.url)
  let cookie = ''
  /** Sends a request below the prefix, as a page of the console does. */
  const ask = (method: string, path: string, body?: object) =>
    fetch(proxy.url + path, {
      method,
      headers: { origin, cookie, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const login = await ask('POST', '/api/session', { name: 'ann', password })
  const setCookie = login.headers.getSetCookie()
  cookie = setCookie.map((line) => line.split(';', 1)[0]).join('; ')
  return {
    ...{ proxy, fixture, ask, setCookie },
    emulator: fixture.emulator,
    async stop() {
      proxy.stop()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

const newTokenOf = async (response: Response) => ((await response.json()) as { token: { token: string } }).token

describe.each(fronts)('below a prefix, on %s with GET_BODIES %s,', (runtime, getBodies) => {
  let prefixed: Awaited<ReturnType<typeof openPrefixed>>
  beforeAll(async () => {
    prefixed = await openPrefixed(runtime, getBodies)
  })
  afterAll(() => prefixed?.stop())

  test('a session is found again: its cookies are for all paths, and a browser sends them below the prefix', async () => {
    const { setCookie, ask } = prefixed
    expect(setCookie.length).toBeGreaterThan(0)
    for (const line of setCookie) expect(line).toContain('; Path=/;')
    const session = await ask('GET', '/api/session')
    expect([session.status, await session.json()]).toMatchObject([200, { user: { name: 'ann' } }])
  })

  test('the redirect of the console stays below the prefix', async () => {
    const response = await fetch(`${prefixed.proxy.url}/console/`, { redirect: 'manual' })
    const location = response.headers.get('location') ?? ''
    expect(response.status).toBe(308)
    expect(new URL(location, `${prefixed.proxy.url}/console/`).href).toBe(`${prefixed.proxy.url}/console`)
  })

  test('a face verification returns to an address below the prefix, and ends there', async () => {
    const { ask, emulator, proxy } = prefixed
    const started = (await (await ask('POST', faces, {})).json()) as { verification_id: string }
    const token = emulator.face.sessions().at(-1)?.bytedToken ?? ''
    const callback = emulator.face.finish(token, 'succeed') ?? ''
    expect(callback).toStartWith(`${proxy.url}${faces}/`)
    const page = await fetch(callback)
    expect([page.status, page.redirected]).toEqual([200, false])
    const poll = async () =>
      ((await (await ask('GET', `${faces}/${started.verification_id}`)).json()) as { status: string }).status
    await until(async () => (await poll()) === 'verified')
  })

  test('the callback of a video task comes below the prefix and ends it, and its result has links there', async () => {
    const { ask, emulator, proxy } = prefixed
    const { token } = await ask('POST', '/api/tokens', {}).then(newTokenOf)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const tasks = `${proxy.url}/api/v3/contents/generations/tasks`
    const body = JSON.stringify({ model: MODEL, content: [text('a fox')], return_last_frame: true })
    const { id } = (await (await fetch(tasks, { method: 'POST', headers, body })).json()) as { id: string }
    emulator.video.finish(emulator.video.tasks().at(-1)?.id ?? '')
    const callbacks = () => emulator.video.callbacks().filter(({ forged }) => !forged)
    await until(async () => callbacks().length > 0)
    for (const { url } of callbacks()) expect(url).toStartWith(`${proxy.url}/api/v3/`)
    let task: { status?: string; content?: { video_url: string; last_frame_url: string } } = {}
    await until(async () => {
      task = (await (await fetch(`${tasks}/${id}`, { headers })).json()) as typeof task
      return task.content?.video_url.startsWith(proxy.url) === true
    })
    expect(callbacks().map(({ status }) => status)).toContain(200)
    for (const url of [task.content?.video_url ?? '', task.content?.last_frame_url ?? '']) {
      expect(url).toStartWith(`${proxy.url}/api/files/results/`)
      expect((await fetch(url)).status).toBe(200)
    }
  })

  test('a logout removes the cookies that the login has set', async () => {
    const { ask, setCookie } = prefixed
    const response = await ask('DELETE', '/api/session')
    const [name] = setCookie[0]?.split('=', 1) ?? []
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(new RegExp(`^${name}=;.* Path=/;`))])
    expect((await ask('GET', '/api/session')).status).toBe(401)
  })
})

describeWithBrowser('below a prefix, a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('logs in, stays logged in, and uploads a picture that becomes an asset', async () => {
    const prefixed = await openPrefixed('bun', 'on')
    const { proxy, emulator } = prefixed
    const context = await browser.newContext({ locale: 'en-GB' })
    const { origin } = new URL(proxy.url)
    // Other hosts store assets. No request reaches them.
    await context.route(
      (url) => url.origin !== origin && url.protocol.startsWith('http'),
      (route) => route.abort(),
    )
    /** Requests to the host of the gateway, but not below its prefix. */
    const outside: string[] = []
    try {
      const page = await context.newPage()
      page.on('request', (request) => {
        const url = request.url()
        if (url.startsWith(origin) && !url.startsWith(`${proxy.url}/`)) outside.push(url)
      })
      await page.goto(`${proxy.url}/console`)
      await page.getByLabel('Name').fill('ann')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('heading', { level: 1, name: 'Asset groups' }).waitFor()
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Asset groups' }).waitFor()
      const session = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
      const headers = { origin, cookie: session, 'content-type': 'application/json' }
      const created = await fetch(`${proxy.url}/api/tokens`, { method: 'POST', headers, body: '{}' })
      const { token } = await newTokenOf(created)
      const group = await fetch(`${proxy.url}/api/media/proxy/assets/groups`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"Name":"holidays","GroupType":"AIGC"}',
      })
      expect(group.status).toBe(200)
      await page.reload()
      await page.getByRole('link', { name: 'holidays' }).click()
      await page.getByText('No assets yet').waitFor()
      const buffer = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
      await page.locator('input[type=file]').setInputFiles([{ name: 'beach.png', mimeType: 'image/png', buffer }])
      await page.locator('article .badge').getByText('Active').waitFor()
      const [asset] = emulator.library.assets()
      expect(asset?.url).toStartWith(`${proxy.url}/api/files/uploads/`)
      expect(outside).toEqual([])
    } finally {
      await context.close()
      await prefixed.stop()
    }
  })
})
