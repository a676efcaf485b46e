import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { request } from 'node:http'
import type { User } from '../support/gateway.ts'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

/** Environments with the same behaviour towards callers. */
const shores: readonly { runtime: Runtime; mode: string | undefined; getBodies: 'on' | 'off' }[] = [
  { runtime: 'bun', mode: undefined, getBodies: 'on' },
  { runtime: 'bun', mode: 'production', getBodies: 'on' },
  { runtime: 'bun', mode: undefined, getBodies: 'off' },
  { runtime: 'deno', mode: undefined, getBodies: 'on' },
  { runtime: 'deno', mode: 'production', getBodies: 'off' },
]

/** Every kind of error, with the response that all environments send. */
const refusals: readonly {
  title: string
  method: string
  path: string
  body?: string
  anonymous?: true
  status: number
}[] = [
  { title: 'no token', method: 'GET', path: '/assets', anonymous: true, status: 401 },
  { title: 'no name', method: 'POST', path: '/assets/groups', body: '{}', status: 400 },
  { title: 'a body that is not JSON', method: 'POST', path: '/assets/groups', body: '{"Name":', status: 400 },
  { title: 'a body that is not an object', method: 'POST', path: '/assets', body: '[]', status: 400 },
  { title: 'a body too large', method: 'POST', path: '/assets', body: `{"x":"${'y'.repeat(200_000)}"}`, status: 413 },
  { title: 'a bad parameter', method: 'GET', path: '/assets?PageSize=1e2', status: 400 },
  { title: 'a foreign group', method: 'POST', path: '/assets', body: '{"GroupId":"group-1"}', status: 403 },
  { title: 'an absent asset', method: 'GET', path: '/assets/asset-20260101000000-aaaaa', status: 403 },
  { title: 'a hostile id', method: 'DELETE', path: '/assets/..%2fgroups', status: 403 },
  { title: 'an id that cannot be decoded', method: 'GET', path: '/assets/a%zz', status: 403 },
  { title: 'an unknown path', method: 'GET', path: '/nothing', status: 404 },
  { title: 'a method that the path has not', method: 'PUT', path: '/assets/groups', body: '{}', status: 405 },
]

const seen = new Map<string, string>()

for (const { runtime, mode, getBodies } of shores) {
  describe(`on ${runtime}, NODE_ENV ${mode ?? 'unset'}, GET_BODIES ${getBodies}`, () => {
    let fixture: ServerFixture
    let server: ServerProcess
    let user: User
    beforeAll(async () => {
      fixture = await openServerFixture()
      server = await fixture.start(
        { NODE_ENV: mode, GET_BODIES: getBodies, MAX_BODY_BYTES: '100000', LOG_LEVEL: 'trace' },
        runtime,
      )
      user = (await fixture.addUser('ann')).at(server)
    }, 300_000)
    afterAll(() => fixture[Symbol.asyncDispose]())

    for (const { title, method, path, body, anonymous, status } of refusals) {
      test(`${title} has the same error response as in every environment`, async () => {
        const reply = await user.ask(method, path, body, anonymous && { authorization: '' })
        expect(reply.status).toBe(status)
        expect(reply.headers.get('content-type')).toBe('application/json')
        const response = `${reply.status} ${reply.headers.get('allow')} ${reply.text}`
        expect(seen.get(title) ?? response).toBe(response)
        seen.set(title, response)
      })
    }

    test('an asset becomes Active', async () => {
      const group = (await user.ask('POST', '/assets/groups', { Name: 'holidays' })).json.Result.Id
      const asset = { GroupId: group, URL: 'https://example.com/a.png', AssetType: 'Image', Name: 'beach' }
      const id = (await user.ask('POST', '/assets', asset)).json.Result.Id
      const detail = (await user.ask('GET', `/assets/${id}`)).json.Result
      expect(detail).toMatchObject({ Id: id, GroupId: group, Name: 'beach', Status: 'Active' })
      expect((await user.ask('PATCH', `/assets/${id}`, { Name: 'sea' })).status).toBe(200)
      expect((await user.ask('GET', '/assets?Name=sea')).json.Result.TotalCount).toBe(1)
      expect((await user.ask('DELETE', `/assets/${id}`)).status).toBe(200)
      expect((await user.ask('GET', '/assets')).json.Result).toEqual({ Items: [], NextToken: '', TotalCount: 0 })
    })

    test(`a JSON body on GET is ${getBodies === 'on' ? 'read' : 'rejected, never ignored'}`, async () => {
      await user.ask('POST', '/assets/groups', { Name: 'other' })
      const { status, json } = await getWithBody(server.url, user.token, { Filter: { Name: 'other' } })
      expect(status).toBe(getBodies === 'on' ? 200 : 400)
      if (getBodies === 'on') expect(json.Result.TotalCount).toBe(1)
      else expect(json.error.message).toContain('query string')
    })

    test('a creation is sent once when the connection is reset after its arrival', async () => {
      const before = fixture.emulator.library.groups().length
      await user.ask('GET', '/assets/groups')
      fixture.emulator.faults.add({ kind: 'reset-after', action: 'CreateAssetGroup' })
      const reply = await user.ask('POST', '/assets/groups', { Name: 'once' })
      expect(reply.status).toBe(502)
      expect(fixture.emulator.library.groups()).toHaveLength(before + 1)
    })

    test('the log contains no token and no credential', () => {
      const log = server.stderr()
      for (const secret of [user.token, fixture.emulator.rest.key]) expect(log).not.toContain(secret)
    })

    test('the server stops gracefully', async () => {
      expect(await server.kill('SIGTERM')).toBe(0)
    })
  })
}

const getWithBody = (url: string, token: string, body: object) =>
  // biome-ignore lint/suspicious/noExplicitAny: responses of two formats
  new Promise<{ status: number | undefined; json: any }>((resolve, reject) => {
    const text = JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }
    const outgoing = request(`${url}/api/media/proxy/assets/groups`, { method: 'GET', headers }, (incoming) => {
      let response = ''
      incoming.on('data', (chunk) => {
        response += chunk
      })
      incoming.on('end', () => resolve({ status: incoming.statusCode, json: JSON.parse(response) }))
    })
    outgoing.on('error', reject)
    outgoing.end(text)
  })
