/** Runs with `--all`: it needs a namespace of Linux, in which the disk is a small one of the test. */
import { afterAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeIf } from '../support/run-if.ts'
import { root } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { arkOf, login, send } from './fixture.ts'

const disk = process.env.SLUICE_DISK

/** Runs a command in a namespace of its own, with a disk of 16 MiB. */
const withSmallDisk = (command: readonly string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
  const script = 'mount -t tmpfs -o size=16m tmpfs "$0" && exec "$@"'
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--user', '--map-root-user', '--mount', 'sh', '-c', script, folder, ...command],
    { cwd: root, encoding: 'utf8', env: { ...process.env, SLUICE_DISK: folder } },
  )
  rmSync(folder, { recursive: true })
  return { status, output: `${stdout}${stderr}` }
}

const canMount = process.platform === 'linux' && (disk !== undefined || withSmallDisk(['true']).status === 0)

describeIf(canMount && disk === undefined, 'this system permits no mounts')('a start on a full disk', () => {
  test('is reported, and recovers when there is room', () => {
    const { status, output } = withSmallDisk([
      ...[process.execPath, 'test', '--timeout=60000', './test/server/full-disk-start.all.test.ts'],
    ])
    expect([status, status === 0 ? '' : output]).toEqual([0, ''])
  }, 300_000)
})

describeIf(disk !== undefined, 'runs in a namespace')('on a disk without room', () => {
  const folder = disk ?? ''
  const filler = join(folder, 'filler')
  const fill = () => {
    const { bavail, bsize } = statfsSync(folder)
    writeFileSync(filler, new Uint8Array(bavail * bsize))
  }
  afterAll(() => rmSync(filler, { force: true }))

  for (const [front, runtime, environment] of [
    ['node:http', 'bun', {}],
    ['Bun.serve', 'bun', { GET_BODIES: 'off' }],
    ['Deno', 'deno', {}],
  ] as const)
    test(`a server starts and says so, and works when there is room (${front})`, async () => {
      fill()
      await using fixture = await openServerFixture('sqlite')
      const server = await fixture.start(
        { ...arkOf(fixture), ...environment, DATABASE_URL: `sqlite:${join(folder, `${runtime}-${front.length}.db`)}` },
        runtime,
      )
      const ready = async () => {
        const { status, json } = await send(server.url, 'GET', '/readyz')
        return [status, json.database]
      }
      // It tries again every second.
      for (let attempt = 0; attempt < 3; attempt++) {
        expect(await ready()).toEqual([503, 'full'])
        const refused = await send(server.url, 'GET', '/v1/models', undefined, { authorization: 'Bearer sk-x' })
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
        expect((await login(server.url, 'ann')).status).toBe(503)
        await new Promise((resolve) => setTimeout(resolve, 700))
      }
      unlinkSync(filler)
      while ((await ready())[0] !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
      const unknown = await send(server.url, 'GET', '/v1/models', undefined, { authorization: 'Bearer sk-x' })
      expect(unknown.status).toBe(401)
      expect((await login(server.url, 'ann')).status).toBe(401)
      await server.kill('SIGKILL')
      for (const end of ['', '-wal', '-shm'])
        rmSync(join(folder, `${runtime}-${front.length}.db${end}`), { force: true })
    })
})
