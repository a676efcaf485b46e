import { describe, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MODEL, text } from '../emulator/video-client.ts'
import { findProgram, operatingFile } from '../operating/fixture.ts'
import { type ReverseProxy, type RunningProxy, startProxy } from '../operating/proxies.ts'
import { repeatedDatabases, type TestDatabase } from '../support/database.ts'
import { describeIf } from '../support/run-if.ts'
import type { ServerProcess } from '../support/server.ts'
import { cookieOf, type Fixture, openFixture, password, until } from './fixture.ts'

const page = await readFile(operatingFile('gateway-groups.md'), 'utf8')
const [, makeSites = ''] = /```sh nginx-sites\n([\s\S]*?)```/.exec(page) ?? []

const names = ['red', 'blue'] as const
type Name = (typeof names)[number]

/** A gateway group behind the common front: a database, an account of the vendor, and a user of the same name in each. */
interface GatewayGroup {
  readonly name: Name
  readonly fixture: Fixture
  readonly server: ServerProcess
  readonly token: string
  /** The secret key of its account. */
  readonly key: string
}

/** nginx with the sites that the page makes, without TLS, on one port. */
const nginxOf = (ports: Readonly<Record<Name, number>>): ReverseProxy => ({
  program: 'nginx',
  belowPath: (example) => example,
  configure: ({ folder, port }) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((path) => `${path}_temp_path ${folder}/${path};`)
      .join('\n')
    const script = makeSites
      .replaceAll('/etc/nginx/conf.d/', `${folder}/sites/`)
      .replace('site red 3000 3001', `site red ${ports.red} ${ports.red}`)
      .replace('site blue 3100 3101', `site blue ${ports.blue} ${ports.blue}`)
    const made = Bun.spawnSync(['sh', '-ec', `mkdir ${folder}/sites\n${script}`], { cwd: operatingFile('.') })
    if (made.exitCode !== 0) throw new Error(made.stderr.toString())
    const sites = names.map((name) => Bun.spawnSync(['cat', `${folder}/sites/sluice-${name}.conf`]).stdout.toString())
    return `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
      http { access_log off; server_names_hash_bucket_size 128; ${temporary}\n${sites
        .map((site) =>
          site
            .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
            .replace('listen [::]:443 ssl;', '')
            .replace(/ssl_certificate.*;/g, ''),
        )
        .join('\n')} }`
  },
  command: (program, folder) => [program, '-e', 'stderr', '-p', folder, '-c', join(folder, 'configuration')],
})

interface Answer {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
  readonly headers: Headers
}

const library = '/api/media/proxy/assets'
const tasks = '/api/v3/contents/generations/tasks'
const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

const testGroups = (kind: TestDatabase['kind']): void => {
  describe(`two gateway groups behind one nginx (${kind})`, () => {
    const open = async (stack: AsyncDisposableStack) => {
      const start = async (name: Name): Promise<GatewayGroup> => {
        const key = `key-of-the-account-${name}`
        // The emulated accounts number their ids alike, after the time: so no two objects of both have the same one.
        const clock = name === 'red' ? Date.now : () => Date.now() - 3_600_000
        const fixture = stack.use(await openFixture(kind, { key, clock, video: { queuedMs: 0, runningMs: 0 } }))
        const { emulator } = fixture
        const server = await fixture.start({
          ...{ MEDIA_UPSTREAM_LIMITS: '{}', PUBLIC_URL: `https://${name}.gateway.example` },
          ...{ TRUSTED_PROXIES: '127.0.0.1', VIDEO_POLL_SECONDS: '0.2' },
          ...{ TEXT_UPSTREAM_URL: emulator.text.url, TEXT_UPSTREAM_KEY: emulator.text.key },
          ...{ VIDEO_UPSTREAM_URL: emulator.video.url, VIDEO_UPSTREAM_KEY: emulator.video.key },
        })
        await fixture.addPerson('pia')
        return { name, fixture, server, token: (await fixture.addUser('ann')).token, key }
      }
      const [red, blue] = await Promise.all([start('red'), start('blue')])
      const portOf = ({ server }: GatewayGroup) => Number(new URL(server.url).port)
      const front: RunningProxy = await startProxy(nginxOf({ red: portOf(red), blue: portOf(blue) }), [0, 0])
      stack.defer(front.stop)
      /** Sends a request to a group, through the front. */
      const ask = async (
        { name }: GatewayGroup,
        method: string,
        path: string,
        { token, body, headers = {} }: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
      ): Promise<Answer> => {
        const response = await fetch(front.url + path, {
          method,
          headers: {
            host: `${name}.gateway.example`,
            ...(token && { authorization: `Bearer ${token}` }),
            ...(body !== undefined && {
              'content-type': body instanceof Uint8Array ? 'image/png' : 'application/json',
            }),
            ...headers,
          },
          ...(body !== undefined && { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
        })
        const said = await response.text()
        return { status: response.status, text: said, json: parsed(said), headers: response.headers }
      }
      return { red, blue, ask }
    }

    test('nothing crosses: what one has is unknown in the other', async () => {
      await using stack = new AsyncDisposableStack()
      const { red, blue, ask } = await open(stack)

      /** Makes one of everything. Returns what must not be seen elsewhere. */
      const fill = async (group: GatewayGroup) => {
        const own = { token: group.token }
        const make = async (path: string, body: unknown, headers?: Record<string, string>) => {
          const answer = await ask(group, 'POST', path, { ...own, body, headers })
          if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
          return answer.json
        }
        const once = { 'idempotency-key': 'the-same-in-both' }
        const { Id: groupId } = (await make(`${library}/groups`, { Name: 'cats' }, once)).Result
        await make(`${library}/groups`, { Name: 'dogs' })
        const wanted = { GroupId: groupId, URL: 'https://files.example/a.png', AssetType: 'Image', Name: 'tom' }
        const { Id: assetId } = (await make(library, wanted)).Result
        const { id: video } = await make(tasks, { model: MODEL, content: [text('a cat')] })
        const { id: response } = await make('/v1/responses', { model: 'doubao-seed-emulated', input: 'Hello' })
        const { upload } = await make('/api/uploads', png)
        const { NextToken: next } = (await ask(group, 'GET', `${library}/groups?PageSize=1`, own)).json.Result
        expect(next).not.toBe('')
        return { groupId, assetId, video, response, link: new URL(upload.url), next } as const
      }
      // One account has objects of somebody else before.
      await fill({ ...blue, token: (await blue.fixture.addUser('eve')).token })
      blue.fixture.emulator.clearCalls()
      const [ofRed, ofBlue] = [await fill(red), await fill(blue)]
      for (const key of ['groupId', 'assetId', 'video', 'response'] as const) expect(ofRed[key]).not.toBe(ofBlue[key])

      for (const [here, there, foreign] of [
        [red, blue, ofBlue],
        [blue, red, ofRed],
      ] as const) {
        // Credentials of one are none in the other.
        const denied = await ask(here, 'GET', library, { token: there.token })
        const unknown = await ask(here, 'GET', library, { token: `sk-${'A'.repeat(43)}` })
        expect([denied.status, denied.text]).toEqual([401, unknown.text])
        const site = { headers: { origin: `https://${there.name}.gateway.example` } }
        const session = await ask(there, 'POST', '/api/session', { ...site, body: { name: 'pia', password } })
        const cookie = { headers: { cookie: cookieOf(session as never) } }
        expect((await ask(there, 'GET', '/api/session', cookie)).status).toBe(200)
        expect((await ask(here, 'GET', '/api/session', cookie)).status).toBe(401)

        // Ids of one are unknown in the other, and no answer differs from that for an id that nobody has.
        const { token } = here
        const rename = { Name: 'mine' }
        const added = (GroupId: string) => ({
          GroupId,
          URL: 'https://files.example/b.png',
          AssetType: 'Image',
          Name: 'b',
        })
        const asked = (ids: Record<'groupId' | 'assetId' | 'video' | 'response', string>) =>
          [
            ['GET', `${library}/groups/${ids.groupId}`, undefined, 403],
            ['PATCH', `${library}/groups/${ids.groupId}`, rename, 403],
            ['DELETE', `${library}/groups/${ids.groupId}`, undefined, 403],
            ['POST', library, added(ids.groupId), 403],
            ['GET', `${library}?GroupIds=${ids.groupId}`, undefined, undefined],
            ['GET', `${library}/${ids.assetId}`, undefined, 403],
            ['PATCH', `${library}/${ids.assetId}`, rename, 403],
            ['DELETE', `${library}/${ids.assetId}`, undefined, 403],
            ['GET', `${tasks}/${ids.video}`, undefined, 404],
            ['DELETE', `${tasks}/${ids.video}`, undefined, 404],
            ['GET', `/v1/responses/${ids.response}`, undefined, 404],
          ] as const
        const absent = Object.fromEntries(
          Object.entries(foreign).map(([name, id]) => [name, String(id).replace(/.{5}$/, 'zzzzz')]),
        ) as never
        const withAbsent = asked(absent)
        for (const [nth, [method, path, body, status]] of asked(foreign).entries()) {
          const answer = await ask(here, method, path, { token, body })
          const [, absentPath = '', absentBody] = withAbsent[nth] ?? []
          const other = await ask(here, method, absentPath, { token, body: absentBody })
          expect([method, path, answer.status]).toEqual([method, path, status ?? other.status])
          expect(withoutIds(answer.text, foreign)).toBe(withoutIds(other.text, absent))
        }
        const link = await ask(here, 'GET', foreign.link.pathname + foreign.link.search)
        expect(link.status).toBe(404)

        // Lists have nothing of it.
        const firstPage = await ask(here, 'GET', `${library}/groups?PageSize=1`, { token })
        const afterForeign = await ask(here, 'GET', `${library}/groups?PageSize=1&NextToken=${foreign.next}`, { token })
        expect(afterForeign.json.Result.Items).toEqual(firstPage.json.Result.Items)
        for (const path of [library, `${library}/groups`, tasks, '/v1/videos', '/api/limits']) {
          const list = await ask(here, 'GET', path, { token })
          expect(list.status).toBe(200)
          for (const id of [foreign.groupId, foreign.assetId, foreign.video]) expect(list.text).not.toContain(id)
        }

        // The account of each is only called with its own key. It is asked for an asset that nobody has recorded, and has none.
        const { calls } = here.fixture.emulator
        expect(JSON.stringify(calls)).not.toContain(there.key)
        const ids = [foreign.groupId, foreign.assetId, foreign.video]
        const named = calls.filter((call) => ids.some((id) => JSON.stringify(call).includes(id)))
        expect(
          named.map(({ action, status }) => `${action} ${status}`).filter((call) => call !== 'GetAsset 404'),
        ).toEqual([])
        const made = here.fixture.emulator.library.groups().map(({ name }) => name)
        expect(new Set(made)).toEqual(new Set(['cats', 'dogs']))
      }
      // Everything is still there for its owner.
      for (const [group, { groupId, assetId, video }] of [
        [red, ofRed],
        [blue, ofBlue],
      ] as const)
        for (const path of [`${library}/groups/${groupId}`, `${library}/${assetId}`, `${tasks}/${video}`])
          expect((await ask(group, 'GET', path, { token: group.token })).status).toBe(200)
    }, 120_000)

    test('one that is down leaves the other alone', async () => {
      await using stack = new AsyncDisposableStack()
      const { red, blue, ask } = await open(stack)
      await red.server.kill('SIGKILL')
      expect((await ask(red, 'GET', `${library}/groups`, { token: red.token })).status).toBe(502)
      for (const path of ['/readyz', `${library}/groups`])
        expect((await ask(blue, 'GET', path, { token: blue.token })).status).toBe(200)
      await blue.fixture.emulator.stop()
      await until(async () => (await ask(blue, 'GET', '/readyz')).status === 200)
    }, 120_000)
  })
}

const parsed = (said: string): unknown => {
  try {
    return JSON.parse(said)
  } catch {
    return undefined
  }
}

/** The text without the ids that were asked for, which some answers repeat. */
const withoutIds = (said: string, ids: Readonly<Record<string, unknown>>): string =>
  Object.values(ids).reduce<string>((left, id) => left.replaceAll(String(id), ''), said)

describeIf(findProgram('nginx') !== undefined, 'nginx is not installed')('with nginx,', () => {
  for (const kind of repeatedDatabases) testGroups(kind)
})
