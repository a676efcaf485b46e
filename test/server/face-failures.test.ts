import { describe, expect, test } from 'bun:test'
import { DatabaseSync } from 'node:sqlite'
import type { Fault, FaultTiming } from '../../src/emulator/index.ts'
import { repetitions } from '../support/repetitions.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, type Fixture, faces, openFixture, send, until } from './fixture.ts'

const startVerification = async (fixture: Fixture, by: Browser) => {
  const { json } = await by.ask('POST', faces, {})
  return { id: json.verification_id as string, token: fixture.emulator.face.sessions().at(-1)?.bytedToken ?? '' }
}
/** The person passes the check. Returns the callback address. */
const succeed = (fixture: Fixture, token: string) => new URL(fixture.emulator.face.finish(token, 'succeed') ?? '')
const visit = (url: URL, at = url.origin) => send(at, 'GET', url.pathname + url.search)
const poll = (by: Browser, id: string, at?: ServerProcess) => by.ask('GET', `${faces}/${id}`, undefined, {}, at)
const always: FaultTiming = { action: 'GetVisualValidateResult', times: Number.POSITIVE_INFINITY }
const stored = (fixture: Fixture, id: string) => fixture.store.verification(id)

const kinds = repetitions<'rest' | 'ark'>('ark', 'rest')

describe.each(kinds)('an upstream of kind %s that fails during a poll', (kind) => {
  const faults: readonly (readonly [string, Fault, number])[] = [
    ['refuses the connection', { kind: 'reset-before', ...always }, 502],
    ['sends no response', { kind: 'hang', ...always }, 502],
    ['responds 500', { kind: 'status', status: 500, ...always }, 500],
    ['responds 503', { kind: 'status', status: 503, body: '{"x":1}', ...always }, 503],
    ['responds with HTML', { kind: 'not-json', ...always }, 502],
    ['responds 200 without a body', { kind: 'empty', ...always }, 502],
    ['sends a truncated body', { kind: 'truncate', ...always }, 502],
    ['redirects', { kind: 'redirect', location: 'http://evil.example/', ...always }, 502],
    ['rejects the gateway’s key', { kind: 'status', status: 401, ...always }, 401],
  ]

  test('does not change the task; the poll reports the error, and a later poll verifies the task', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const server = await fixture.start({
      ...(kind === 'ark' ? arkOf(fixture) : {}),
      MEDIA_UPSTREAM_TIMEOUT_SECONDS: '0.6',
    })
    const ann = await browse(server, 'ann')
    const { id, token } = await startVerification(fixture, ann)
    const callback = succeed(fixture, token)
    const first = fixture.emulator.faults.add({ kind: 'reset-before', ...always })
    const page = await visit(callback)
    expect(page.status).toBe(200)
    first.remove()
    const before = (await stored(fixture, id))?.status ?? ''
    expect(['waiting_user', 'resolving']).toContain(before)
    for (const [failure, fault, status] of faults) {
      const added = fixture.emulator.faults.add(fault)
      let reply = await poll(ann, id)
      // After several calls without a response, calls fail at once until one of them tries whether the upstream is back.
      while (reply.status === 502 && reply.status !== status) reply = await poll(ann, id)
      expect([failure, reply.status]).toEqual([failure, status])
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(reply.headers.get('location')).toBeNull()
      expect([failure, (await stored(fixture, id))?.status]).toEqual([failure, before])
      added.remove()
    }
    let last = await poll(ann, id)
    while (last.status === 502) last = await poll(ann, id)
    expect(last.json).toMatchObject({ status: 'verified', group_id: expect.any(String) })
  })
})

describe('a verification that its creator no longer polls', () => {
  test.concurrent('is verified by the background polling, after the upstream was down', async () => {
    await using fixture = await openFixture()
    const id = await fixture.addPerson('ann')
    const server = await fixture.start(arkOf(fixture))
    const ann = await browse(server, 'ann')
    const task = await startVerification(fixture, ann)
    const down = fixture.emulator.faults.add({ kind: 'reset-before', ...always })
    expect((await visit(succeed(fixture, task.token))).status).toBe(200)
    await ann.ask('DELETE', '/api/session')
    await down.waitForHits()
    down.remove()
    await until(async () => (await stored(fixture, task.id))?.status === 'verified')
    expect(await fixture.store.groupsOf(id)).toHaveLength(1)
  }, 300_000)

  test.concurrent('is verified by another server when its own was killed between the callback and the result', async () => {
    await using fixture = await openFixture()
    const user = await fixture.addPerson('ann')
    const [server, next] = [await fixture.start(arkOf(fixture)), await fixture.start(arkOf(fixture))]
    const ann = await browse(server, 'ann')
    const { id, token } = await startVerification(fixture, ann)
    const hold = fixture.emulator.faults.add({ kind: 'hold', when: 'after', action: 'GetVisualValidateResult' })
    const callback = succeed(fixture, token)
    const interrupted = visit(callback, server.url).catch(() => undefined)
    await hold.waitForHits()
    await server.kill('SIGKILL')
    await interrupted
    expect((await poll(ann, id, next)).json).toEqual({ verification_id: id, status: 'resolving' })
    // The lease of the killed server ends after 45 s. End it now.
    const file = new DatabaseSync(fixture.environment.DATABASE_URL?.replace('sqlite:', '') ?? '')
    file.exec('update face_verifications set lease_until = 0')
    file.close()
    hold.remove()
    // The background polling of the other server finds it.
    await until(async () => (await stored(fixture, id))?.status === 'verified')
    expect(await fixture.store.groupsOf(user)).toHaveLength(1)
    expect((await poll(ann, id, next)).json.status).toBe('verified')
    expect((await visit(callback, next.url)).status).toBe(200)
  }, 300_000)

  test.concurrent('expires without a callback, for its creator and for a late callback', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const server = await fixture.start({ ...arkOf(fixture), FACE_TASK_SECONDS: '0.3' })
    const ann = await browse(server, 'ann')
    const { id, token } = await startVerification(fixture, ann)
    await Bun.sleep(350)
    expect((await poll(ann, id)).json).toEqual({ verification_id: id, status: 'expired' })
    const late = await visit(succeed(fixture, token))
    expect(late.text).toContain('Check expired')
    expect((await poll(ann, id)).json.status).toBe('expired')
    expect(await fixture.store.groupsOf((await fixture.store.userByName('ann'))?.id ?? '')).toEqual([])
  })
})

describe('a server that is stopped', () => {
  test.concurrent('during a poll releases the lease, so that the next server can poll at once', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const server = await fixture.start({ ...arkOf(fixture), DRAIN_SECONDS: '0.2' })
    const ann = await browse(server, 'ann')
    const { id, token } = await startVerification(fixture, ann)
    const hang = fixture.emulator.faults.add({ kind: 'hang', ...always })
    const callback = visit(succeed(fixture, token), server.url).catch(() => undefined)
    await hang.waitForHits()
    expect(await server.kill('SIGTERM')).toBe(0)
    await callback
    expect(server.stderr()).not.toMatch(/unhandled|unexpected|panic/i)
    hang.remove()
    const next = await fixture.start(arkOf(fixture))
    expect((await poll(ann, id, next)).json.status).toMatch(/resolving|verified/)
  }, 300_000)
})
