import { expect, test } from 'bun:test'
import { happen, openDatabase, readStream } from '../events/fixture.ts'
import { repeatedDatabases } from '../support/database.ts'
import type { Runtime, ServerProcess } from '../support/server.ts'
import { arkOf, browse, openFixture } from './fixture.ts'

const runtimes: readonly Runtime[] = ['bun', 'deno']

for (const kind of repeatedDatabases) {
  test(`events reach the streams of every process, on both runtimes, until the credential ends (${kind})`, async () => {
    await using fixture = await openFixture(kind)
    const servers = await Promise.all([
      ...runtimes.map((runtime) => fixture.start(arkOf(fixture), runtime)),
      fixture.start({ ...arkOf(fixture), GET_BODIES: 'off' }, 'bun'),
    ])
    const [first] = servers as [ServerProcess]
    const ann = await fixture.addPerson('ann')
    const bob = await fixture.addUser('bob')
    const other = openDatabase({ kind, url: fixture.environment.DATABASE_URL ?? '' })
    const listen = async ({ url }: ServerProcess, headers: Record<string, string>) => {
      const response = await fetch(`${url}/api/events`, { headers })
      if (response.status !== 200)
        console.log(
          await response.text(),
          servers.map((s) => s.stderr()),
        )
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
      const stream = readStream(response)
      expect(await stream.types(1)).toEqual(['stream.start'])
      return stream
    }
    const browser = await browse(first, 'ann')
    const ofAnn = await Promise.all(servers.map((server) => listen(server, { cookie: browser.cookie })))
    const ofBob = await Promise.all(servers.map((server) => listen(server, { authorization: `Bearer ${bob.token}` })))

    const created = await browser.ask('POST', '/api/media/face-verifications', {})
    const verification_id = created.json.verification_id as string
    expect(created.status).toBe(200)
    for (const stream of ofAnn) {
      expect(await stream.next()).toMatchObject({
        type: 'face_verification.waiting_user',
        data: { data: { verification_id, status: 'waiting_user' } },
      })
    }
    await happen(other, bob.id, 'video.succeeded')
    for (const stream of ofBob) expect(await stream.types(1)).toEqual(['video.succeeded'])

    await browser.ask('DELETE', '/api/session')
    const [token] = await fixture.store.listTokens(bob.id)
    await fixture.store.revokeToken(token?.id ?? '', Date.now())
    for (const stream of [...ofAnn, ...ofBob]) {
      expect(await stream.types(1)).toEqual(['stream.end'])
      expect(await stream.next()).toBeUndefined()
    }
    const again = await browse(first, 'ann')
    const last = await Promise.all(servers.map((server) => listen(server, { cookie: again.cookie })))
    // The drain time of 210 seconds is longer than the test.
    const exits = servers.map((server) => server.kill('SIGTERM'))
    for (const stream of last) expect(await stream.types(1)).toEqual(['stream.end'])
    expect(await Promise.all(exits)).toEqual(servers.map(() => 0))
    expect(await fixture.store.findEvent(ann, 'none')).toBeUndefined()
    await other.close()
  }, 300_000)
}
