import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fronts } from '../support/fronts.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { startProxy } from './prefix-proxy.ts'

describe.each(fronts)('with a PUBLIC_URL that has a path, on %s with GET_BODIES %s,', (runtime, getBodies) => {
  let fixture: ServerFixture
  let server: ServerProcess
  let proxy: Awaited<ReturnType<typeof startProxy>>
  let authorization: string
  beforeAll(async () => {
    proxy = await startProxy('/team/gateway')
    fixture = await openServerFixture()
    authorization = `Bearer ${(await fixture.addUser('ann')).token}`
    const ark = {
      MEDIA_UPSTREAM_KIND: 'ark',
      MEDIA_UPSTREAM_URL: fixture.emulator.ark.url,
      MEDIA_UPSTREAM_ACCESS_KEY: fixture.emulator.ark.accessKey,
      MEDIA_UPSTREAM_SECRET_KEY: fixture.emulator.ark.secretKey,
    }
    server = await fixture.start({ ...ark, PUBLIC_URL: proxy.url, GET_BODIES: getBodies }, runtime)
    proxy.to(server.url)
  }, 300_000)
  afterAll(async () => {
    proxy.stop()
    await fixture[Symbol.asyncDispose]()
  })

  test('the link of an upload has the path, and gives the file', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    const headers = { authorization, 'content-type': 'image/png' }
    const response = await fetch(`${proxy.url}/api/uploads`, { method: 'POST', headers, body: png })
    const { upload } = (await response.json()) as { upload: { url: string } }
    expect(upload.url).toStartWith(`${proxy.url}/api/files/`)
    const file = await fetch(upload.url)
    expect(file.status).toBe(200)
    expect(Buffer.from(await file.arrayBuffer())).toEqual(png)
  })

  test('each file that the console and the documentation name is below the path', async () => {
    for (const page of ['/console', '/openapi']) {
      const html = await (await fetch(proxy.url + page)).text()
      const named = [...html.matchAll(/(?:href|src)="(\.[^"]+)"/g)].map(([, name = '']) => name)
      expect(named).not.toBeEmpty()
      for (const name of named) {
        // The session, which the page asks for first: nobody is logged in here.
        const expected = name.startsWith('./api/session') ? 401 : 200
        expect([name, (await fetch(new URL(name, proxy.url + page))).status]).toEqual([name, expected])
      }
    }
  })

  test('the root leads to the console below the path', async () => {
    const response = await fetch(`${proxy.url}/`)
    expect([response.status, response.url]).toEqual([200, `${proxy.url}/console`])
  })

  test('the documentation names the path as the address of the server', async () => {
    const at = `${proxy.url}/openapi/json`
    const { servers } = (await (await fetch(at)).json()) as { servers: { url: string }[] }
    expect(servers.map(({ url }) => new URL(url, at).href)).toEqual([`${proxy.url}/`])
  })

  test('a login from a page of the address is not foreign', async () => {
    const login = (origin: string) =>
      fetch(`${proxy.url}/api/session`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: '{"name":"ann","password":"wrong password"}',
      })
    expect((await login(new URL(proxy.url).origin)).status).toBe(401)
    expect((await login('http://elsewhere.example')).status).toBe(403)
  })
})
