/** Runs with `--all`: it needs namespaces of Linux, in which the name server of the system is one of the test. */
import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import description from '../../package.json' with { type: 'json' }
import { MODEL, text } from '../emulator/video-client.ts'
import { startNameServer } from '../events/name-server.ts'
import { png } from '../file-storage/fixture.ts'
import { describeIf } from '../support/run-if.ts'
import { root } from '../support/server.ts'
import { browse, openFixture, send } from './fixture.ts'

const isInside = process.env.SLUICE_NAMESPACE === '1'

/** Runs a command in namespaces of its own: the only network is loopback, and the only name server 127.0.0.1. */
const inNamespace = (command: readonly string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-namespace-'))
  const config = join(folder, 'resolv.conf')
  writeFileSync(config, 'nameserver 127.0.0.1\noptions timeout:30\n')
  const script = 'ip link set lo up && mount --bind "$0" /etc/resolv.conf && exec "$@"'
  const flags = ['--user', '--map-root-user', '--mount', '--net', 'sh', '-c', script, config]
  const { status, stdout, stderr } = spawnSync('unshare', [...flags, ...command], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, SLUICE_NAMESPACE: '1' },
  })
  rmSync(folder, { recursive: true })
  return { status, output: `${stdout}${stderr}` }
}

const hasNamespaces = process.platform === 'linux' && (isInside || inNamespace(['true']).status === 0)

describeIf(hasNamespaces && !isInside, 'this system permits no namespaces')('names that never resolve', () => {
  test('stop no login, upload, download or chat of others', () => {
    const { status, output } = inNamespace([
      ...[process.execPath, 'test', '--timeout=60000', './test/server/slow-names.all.test.ts'],
    ])
    expect([status, status === 0 ? '' : output]).toEqual([0, ''])
  }, 300_000)
})

/** Deliveries that a process sends at once. */
const places = 32

describeIf(isInside, 'runs in a namespace')(
  'while the name server does not answer for the callbacks of other users',
  () => {
    for (const [front, runtime, environment] of [
      ['node:http', 'bun', {}],
      ['Bun.serve', 'bun', { GET_BODIES: 'off' }],
      ['Deno', 'deno', {}],
    ] as const)
      test(`a login, an upload, a download and a chat are answered (${front})`, async () => {
        await using names = await startNameServer(
          (name) => (name === 'upstream.example' ? { addresses: ['127.0.0.1'] } : 'none'),
          53,
        )
        await using fixture = await openFixture()
        const { video, text: upstream } = fixture.emulator
        const server = await fixture.start(
          {
            ...{ VIDEO_UPSTREAM_URL: video.url, VIDEO_UPSTREAM_KEY: video.key },
            ...{
              TEXT_UPSTREAM_URL: upstream.url.replace('127.0.0.1', 'upstream.example'),
              TEXT_UPSTREAM_KEY: upstream.key,
            },
            ...environment,
          },
          runtime,
        )
        const bob = await fixture.addUser('bob')
        await fixture.addPerson('carl')
        for (let user = 0; user < places / 4 + 2; user++) {
          const { token } = await fixture.addUser(`user ${user}`)
          for (let nth = 0; nth < 6; nth++) {
            const callback_url = `http://silent-${user}-${nth}.example/`
            const body = { model: MODEL, content: [text('a fox')], callback_url }
            const created = await send(server.url, 'POST', '/api/v3/contents/generations/tasks', body, bearer(token))
            expect(created.status).toBe(200)
          }
        }
        const silent = () =>
          new Set(names.queries.map((query) => query.split(' ')[0]).filter((name) => /silent/.test(name ?? '')))
        while (silent().size < places) await new Promise((resolve) => setTimeout(resolve, 10))

        const browser = await browse(server, 'carl')
        expect((await browser.ask('GET', '/api/session')).status).toBe(200)
        await upAndDown(server, bob.token)
        const chat = { model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'hello' }] }
        const answered = await send(server.url, 'POST', '/v1/chat/completions', chat, bearer(bob.token))
        expect([answered.status, answered.json.choices?.length]).toEqual([200, 1])
        expect(names.queries).toContain('upstream.example A')
      })
  },
)

describeIf(isInside, 'runs in a namespace')('while the name server does not answer for several upstreams', () => {
  test('a login, an upload and a download are answered, with the settings of the start command (Bun)', async () => {
    await using names = await startNameServer(() => 'none', 53)
    await using fixture = await openFixture()
    const slow = Array.from({ length: 6 }, (_, nth) => `silent-${nth}.example`)
    const upstreams = slow.map((name) => ({ url: `http://${name}/v1`, models: [name] }))
    const command = description.scripts.start.split(' ')
    const settings = Object.fromEntries(command.filter((word) => word.includes('=')).map((word) => word.split('=')))
    const server = await fixture.start({ ...settings, TEXT_UPSTREAMS: JSON.stringify(upstreams) })
    const bob = await fixture.addUser('bob')
    await fixture.addPerson('carl')
    const left = new AbortController()
    for (const model of slow) {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] })
      const headers = { ...bearer(bob.token), 'content-type': 'application/json' }
      void fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body, signal: left.signal }).catch(
        () => {},
      )
    }
    while (!slow.every((name) => names.queries.includes(`${name} A`)))
      await new Promise((resolve) => setTimeout(resolve, 10))
    expect((await (await browse(server, 'carl')).ask('GET', '/api/session')).status).toBe(200)
    await upAndDown(server, bob.token)
    left.abort()
  })
})

/** Uploads a file and downloads it again. */
const upAndDown = async (server: { readonly url: string }, token: string): Promise<void> => {
  const body = png()
  const uploaded = await fetch(`${server.url}/api/uploads`, { method: 'POST', headers: bearer(token), body })
  const { upload } = (await uploaded.json()) as { upload: { url: string } }
  const { pathname, search } = new URL(upload.url)
  const downloaded = await fetch(new URL(pathname + search, server.url))
  expect(new Uint8Array(await downloaded.arrayBuffer())).toEqual(body)
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
