// For `npm test -- --all` only: it needs namespaces of Linux, in which the system's name server is one of the test.
import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  writeFileSync(config, 'nameserver 127.0.0.1\n')
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
        const file = png()
        const uploaded = await fetch(`${server.url}/api/uploads`, {
          method: 'POST',
          headers: bearer(bob.token),
          body: file,
        })
        const { upload } = (await uploaded.json()) as { upload: { url: string } }
        const downloaded = await fetch(new URL(new URL(upload.url).pathname + new URL(upload.url).search, server.url))
        expect(new Uint8Array(await downloaded.arrayBuffer())).toEqual(file)
        const chat = { model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'hello' }] }
        const answered = await send(server.url, 'POST', '/v1/chat/completions', chat, bearer(bob.token))
        expect([answered.status, answered.json.choices?.length]).toEqual([200, 1])
        expect(names.queries).toContain('upstream.example A')
      })
  },
)

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
