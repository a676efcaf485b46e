import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { openStore } from '../../src/store/index.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await migratedDatabase('postgres')
}, 300_000)
afterAll(() => database.remove())

/** A TCP proxy in front of the database, which can disappear and come back. */
const startProxy = () => {
  const { hostname, port } = new URL(database.url)
  const sockets = new Set<Socket>()
  let server: Server | undefined
  const url = new URL(database.url)
  return {
    async appear() {
      // No other process is given it while the proxy has vanished.
      if (url.port === port) url.port = String(await freePort())
      const listening = createServer((near) => {
        const far = connect(Number(port), hostname)
        for (const socket of [near, far]) {
          sockets.add(socket)
          socket.on('error', () => {})
        }
        near.pipe(far).pipe(near)
      })
      server = listening
      await new Promise<void>((resolve) => listening.listen(Number(url.port), hostname, resolve))
      return url.href
    },
    vanish() {
      for (const socket of sockets) socket.destroy()
      server?.close()
    },
  }
}

test('a store works again as soon as the server is reachable after many failed attempts', async () => {
  const proxy = startProxy()
  const store = openStore(await proxy.appear(), { deadlineMs: 60_000 })
  await store.migrate()
  proxy.vanish()
  await Bun.sleep(50)
  for (let attempt = 0; attempt < 12; attempt++) {
    await expect(store.revision()).rejects.toThrow('the database request failed')
  }
  await proxy.appear()
  const from = performance.now()
  expect(await store.revision()).toBe(1)
  // After so many attempts the driver's own pause would be 10 to 20 s.
  expect(performance.now() - from).toBeLessThan(9_000)
  await store.close()
  proxy.vanish()
})

test('a store can be opened before its database is reachable, and works once it is', async () => {
  const proxy = startProxy()
  const url = await proxy.appear()
  proxy.vanish()
  const store = openStore(url)
  await expect(store.migrate()).rejects.toThrow('the database request failed')
  await expect(store.ready()).rejects.toThrow('the database request failed')
  await proxy.appear()
  await store.migrate()
  await store.ready()
  await store.close()
  proxy.vanish()
})
