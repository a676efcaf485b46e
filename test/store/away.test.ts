import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { openStore } from '../../src/store/index.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase('postgres')
}, 60_000)
afterAll(() => database.remove())

/** Passes connections on to the database for as long as it is there. */
const detour = () => {
  const { hostname, port } = new URL(database.url)
  const sockets = new Set<Socket>()
  let server: Server | undefined
  const url = new URL(database.url)
  return {
    async appear() {
      const listening = createServer((near) => {
        const far = connect(Number(port), hostname)
        for (const socket of [near, far]) {
          sockets.add(socket)
          socket.on('error', () => {})
        }
        near.pipe(far).pipe(near)
      })
      server = listening
      await new Promise<void>((resolve) =>
        listening.listen(Number(url.port === port ? 0 : url.port), hostname, resolve),
      )
      const address = listening.address()
      if (typeof address === 'object' && address) url.port = String(address.port)
      return url.href
    },
    vanish() {
      for (const socket of sockets) socket.destroy()
      server?.close()
    },
  }
}

test('a server that was away for many tries is found as soon as it is back', async () => {
  const way = detour()
  const store = openStore(await way.appear())
  await store.migrate()
  way.vanish()
  await Bun.sleep(50)
  for (let attempt = 0; attempt < 12; attempt++) {
    await expect(store.revision()).rejects.toThrow('the database could not be asked')
  }
  await way.appear()
  const from = performance.now()
  expect(await store.revision()).toBe(1)
  expect(performance.now() - from).toBeLessThan(1_000)
  await store.close()
  way.vanish()
})

test('a store is opened before its database is there, and joins when it appears', async () => {
  const way = detour()
  const url = await way.appear()
  way.vanish()
  const store = openStore(url)
  await expect(store.migrate()).rejects.toThrow('the database could not be asked')
  await expect(store.ready()).rejects.toThrow('the database could not be asked')
  await way.appear()
  await store.migrate()
  await store.ready()
  await store.close()
  way.vanish()
})
