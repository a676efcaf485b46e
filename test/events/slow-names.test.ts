import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createResolve } from '../../plugins/events/address/resolve.ts'
import { deliver } from '../../plugins/events/webhooks/deliver.ts'
import { createSecret } from '../../plugins/events/webhooks/signature.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import type { Database } from '../../src/store/database/database.ts'
import { addDelivery } from '../../src/store/events/events.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { happen, newUser, openDatabase } from './fixture.ts'
import { type NameServer, startNameServer } from './name-server.ts'

repeatOnDatabases('names that users have chosen', (tested) => {
  let store: Store
  let other: Database
  let names: NameServer
  let port = 0
  const received: string[] = []
  const receiver = createServer((request, response) => {
    received.push(request.headers.host ?? '')
    response.end()
  })
  const logged: { user?: string; error?: string; cause?: string }[] = []
  const log = { ...noLog, info: (fields: object) => void logged.push(fields) }
  const running: Background[] = []
  beforeAll(async () => {
    store = await tested.open()
    other = openDatabase(tested)
    names = await startNameServer((name) => {
      if (name.includes('silent')) return 'none'
      if (name.includes('missing')) return 'NXDOMAIN'
      return { addresses: [name.includes('private') ? '10.1.2.3' : '127.0.0.1'] }
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    port = (receiver.address() as AddressInfo).port
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((background) => background.stop()))
  })
  afterAll(async () => {
    receiver.close()
    await names[Symbol.asyncDispose]()
    await other.close()
  })

  // The time stands still: on a busy machine no lease ends.
  const now = Date.now() + 60_000
  const clock = { ...systemClock, now: () => now }
  const start = (deadlineMs: number) => {
    const background = new Background()
    // A look-up asks each server for six seconds. On a busy machine the test takes longer.
    const servers = Array<string>(20).fill(names.address)
    const resolve = createResolve({ servers, config: '/nothing', deadlineMs })
    const rules = { isAllowed: (address: string) => address === '127.0.0.1', resolve }
    deliver({
      ...{ store, onEvents: store.onEvents, clock, log, rules, everyMs: 5 },
      ...{ background, max: 8, deadlineMs: 60_000 },
    })
    running.push(background)
  }
  const until = async (isTrue: () => boolean | Promise<boolean>) => {
    while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 2))
  }

  test('hold four places of their user until the look-ups have ended, and nobody else waits', async () => {
    const [hog, ann] = [newUser(), newUser()]
    const add = (user: string, subject: string, host: string) =>
      other.batch(addDelivery({ user, url: `http://${host}:${port}/`, subject, body: '{}', at: Date.now() }))
    for (let nth = 0; nth < 60; nth++) await add(hog, `hog-${nth}`, `silent-${nth}.example`)
    start(60_000)
    const silent = () =>
      new Set(names.queries.filter((query) => query.includes('silent')).map((query) => query.split(' ')[0]))
    await until(() => silent().size === 4)
    for (let nth = 0; nth < 20; nth++) await add(ann, `ann-${nth}`, `ann-${nth}.example`)
    await until(() => received.length === 20)
    expect(received.toSorted()).toEqual(Array.from({ length: 20 }, (_, nth) => `ann-${nth}.example:${port}`).toSorted())
    expect(silent().size).toBe(4)
  })

  test('that exist, do not exist and are not answered have the same error, and the log their causes', async () => {
    const hosts = ['private.example', 'missing.example', 'silent.example']
    const users = hosts.map(newUser)
    const errorOf = async (user: string) => (await store.listWebhooks(user))[0]?.lastError
    for (const [nth, user] of users.entries()) {
      const url = `http://${hosts[nth]}:${port}/`
      await store.addWebhook({ id: randomUUID(), user, url, secret: createSecret(), createdAt: 1 }, 10)
      await happen(other, user, 'video.queued')
      // Only the look-up without an answer meets its deadline.
      start(hosts[nth] === 'silent.example' ? 50 : 60_000)
      await until(async () => (await errorOf(user)) !== undefined)
      expect(await errorOf(user)).toBe('the host cannot be reached at a public address')
      await Promise.all(running.splice(0).map((background) => background.stop()))
    }
    const causes = users.map((user) => logged.find((line) => line.user === user)?.cause)
    expect(causes[0]).toBe('none of 10.1.2.3 is allowed')
    expect(causes[1]).toContain('ENOTFOUND missing.example')
    expect(causes[2]).toContain('ECANCELLED silent.example')
  })
})
