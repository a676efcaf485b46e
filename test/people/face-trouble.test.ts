import { describe, expect, test } from 'bun:test'
import { DatabaseSync } from 'node:sqlite'
import type { Fault } from '../../src/emulator/index.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, faces, type Office, openOffice, send, until } from './fixture.ts'

const begin = async (office: Office, by: Browser) => {
  const { json } = await by.ask('POST', faces, {})
  return { id: json.verification_id as string, token: office.emulator.face.sessions().at(-1)?.bytedToken ?? '' }
}
const done = (office: Office, token: string) => new URL(office.emulator.face.finish(token, 'succeed') ?? '')
const visit = (url: URL, at = url.origin) => send(at, 'GET', url.pathname + url.search)
const look = (by: Browser, id: string, at?: ServerProcess) => by.ask('GET', `${faces}/${id}`, undefined, {}, at)
const always = { action: 'GetVisualValidateResult', times: Number.POSITIVE_INFINITY }
const kept = (office: Office, id: string) => office.store.verification(id)

describe.each(['rest', 'ark'] as const)('an upstream of kind %s that is in trouble while somebody polls', (kind) => {
  const faults: readonly (readonly [string, Fault, number])[] = [
    ['refuses', { kind: 'refuse', ...always }, 502],
    ['answers nothing', { kind: 'hang', ...always }, 502],
    ['says 500', { kind: 'status', status: 500, ...always }, 500],
    ['says 503', { kind: 'status', status: 503, body: '{"x":1}', ...always }, 503],
    ['answers a page', { kind: 'not-json', ...always }, 502],
    ['answers nothing with 200', { kind: 'empty', ...always }, 502],
    ['breaks off', { kind: 'truncate', ...always }, 502],
    ['redirects', { kind: 'redirect', location: 'http://evil.example/', ...always }, 502],
    ['does not know its own key any more', { kind: 'status', status: 401, ...always }, 401],
  ]

  test('leaves the task as it stands, says so, and verifies it afterwards', async () => {
    await using office = await openOffice()
    await office.addPerson('ann')
    const server = await office.start({
      ...(kind === 'ark' ? arkOf(office) : {}),
      MEDIA_UPSTREAM_TIMEOUT_SECONDS: '0.6',
    })
    const ann = await browse(server, 'ann')
    const { id, token } = await begin(office, ann)
    const callback = done(office, token)
    const first = office.emulator.faults.add({ kind: 'refuse', ...always })
    const page = await visit(callback)
    expect(page.status).toBe(200)
    first.remove()
    const before = (await kept(office, id))?.status ?? ''
    expect(['waiting_user', 'resolving']).toContain(before)
    for (const [what, fault, status] of faults) {
      const added = office.emulator.faults.add(fault)
      const reply = await look(ann, id)
      expect([what, reply.status]).toEqual([what, status])
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(reply.headers.get('location')).toBeNull()
      expect([what, (await kept(office, id))?.status]).toEqual([what, before])
      added.remove()
    }
    expect((await look(ann, id)).json).toMatchObject({ status: 'verified', group_id: expect.any(String) })
  })
})

describe('a verification whose tab was closed', () => {
  test.concurrent('is brought to its end by the server, after the upstream was down', async () => {
    await using office = await openOffice()
    const id = await office.addPerson('ann')
    const server = await office.start(arkOf(office))
    const ann = await browse(server, 'ann')
    const task = await begin(office, ann)
    const down = office.emulator.faults.add({ kind: 'refuse', ...always })
    expect((await visit(done(office, task.token))).status).toBe(200)
    await ann.ask('DELETE', '/api/session')
    await down.struck()
    down.remove()
    await until(async () => (await kept(office, task.id))?.status === 'verified')
    expect(await office.store.groupsOf(id)).toHaveLength(1)
  }, 15_000)

  test.concurrent('is verified by the next server when its own was killed between the callback and the result', async () => {
    await using office = await openOffice()
    const user = await office.addPerson('ann')
    const [server, next] = [await office.start(arkOf(office)), await office.start(arkOf(office))]
    const ann = await browse(server, 'ann')
    const { id, token } = await begin(office, ann)
    const hold = office.emulator.faults.add({ kind: 'hold', when: 'after', action: 'GetVisualValidateResult' })
    const callback = done(office, token)
    const gone = visit(callback, server.url).catch(() => undefined)
    await hold.struck()
    await server.kill('SIGKILL')
    await gone
    expect((await look(ann, id, next)).json).toEqual({ verification_id: id, status: 'resolving' })
    // The lease of the dead ends in 45 s; here, now.
    const file = new DatabaseSync(office.environment.DATABASE_URL?.replace('sqlite:', '') ?? '')
    file.exec('update face_verifications set lease_until = 0')
    file.close()
    hold.remove()
    // Nobody asks: the one that is left finds it by itself.
    await until(async () => (await kept(office, id))?.status === 'verified')
    expect(await office.store.groupsOf(user)).toHaveLength(1)
    expect((await look(ann, id, next)).json.status).toBe('verified')
    expect((await visit(callback, next.url)).status).toBe(200)
  }, 15_000)

  test('expires when nobody ever comes back, for its creator and for the callback', async () => {
    await using office = await openOffice()
    await office.addPerson('ann')
    const server = await office.start({ ...arkOf(office), FACE_TASK_SECONDS: '0.3' })
    const ann = await browse(server, 'ann')
    const { id, token } = await begin(office, ann)
    await Bun.sleep(350)
    expect((await look(ann, id)).json).toEqual({ verification_id: id, status: 'expired' })
    const late = await visit(done(office, token))
    expect(late.text).toContain('Check expired')
    expect((await look(ann, id)).json.status).toBe('expired')
    expect(await office.store.groupsOf((await office.store.userByName('ann'))?.id ?? '')).toEqual([])
  })
})

describe('a server that is told to stop', () => {
  test('while it waits for a result lets go of the task, which the next one takes up at once', async () => {
    await using office = await openOffice()
    await office.addPerson('ann')
    const server = await office.start({ ...arkOf(office), DRAIN_SECONDS: '0.2' })
    const ann = await browse(server, 'ann')
    const { id, token } = await begin(office, ann)
    const hang = office.emulator.faults.add({ kind: 'hang', ...always })
    const callback = visit(done(office, token), server.url).catch(() => undefined)
    await hang.struck()
    expect(await server.kill('SIGTERM')).toBe(0)
    await callback
    expect(server.stderr()).not.toMatch(/unhandled|unexpected|panic/i)
    hang.remove()
    const next = await office.start(arkOf(office))
    expect((await look(ann, id, next)).json.status).toMatch(/resolving|verified/)
  }, 15_000)
})
