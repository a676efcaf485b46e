/** Runs with `--all`: starts workers, and ends and kills one of them under load. */
import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { host, RawConnection } from '../node-server/raw-connection.ts'
import type { Runtime } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { sendOnNewConnection } from './new-connection.ts'

const workersOf = (pid: number): number[] =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number)

/** How many processes accept connections of a port: each has a socket of its own. */
const listenersOf = (port: number): number => {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => readFileSync(path, 'utf8').split('\n'))
  return sockets
    .map((line) => line.trim().split(/\s+/))
    .filter(([, at, , state]) => state === '0A' && at?.endsWith(local)).length
}

const request = `GET /healthz HTTP/1.1\r\n${host}\r\n`

for (const [name, runtime, environment] of [
  ['GET_BODIES=on', 'bun', {}],
  ['GET_BODIES=off', 'bun', { GET_BODIES: 'off' }],
  ['Deno', 'deno', {}],
] satisfies [string, Runtime, Record<string, string>][]) {
  test(`a worker that is killed takes only its own connections with it (${name})`, async () => {
    await using fixture = await openServerFixture()
    const server = await fixture.start({ WORKERS: '2', ...environment }, runtime)
    const port = Number(new URL(server.url).port)
    const dial = () => new RawConnection(connect(port, '127.0.0.1'))
    const connections = Array.from({ length: 64 }, dial)
    for (const connection of connections) connection.write(request)
    for (const connection of connections) expect((await connection.readResponse()).status).toBe(200)
    const [killed = 0] = workersOf(server.pid)
    const lost = new Set<RawConnection>()
    for (const connection of connections) void connection.closed.then(() => lost.add(connection))
    process.kill(killed, 'SIGKILL')
    while (workersOf(server.pid).includes(killed)) await new Promise(setImmediate)
    // New connections, all before the worker is started again.
    for (let nth = 0; nth < 200; nth++) {
      const connection = dial()
      connection.write(request)
      expect((await connection.readResponse()).status).toBe(200)
      connection.socket.destroy()
    }
    // The system has given each worker a part of the connections.
    expect(lost.size).toBeWithin(1, connections.length)
    for (const connection of connections) {
      if (lost.has(connection)) continue
      connection.write(request)
      expect((await connection.readResponse()).status).toBe(200)
    }
    expect(await server.kill('SIGTERM')).toBe(0)
  }, 300_000)
}

for (const GET_BODIES of ['on', 'off']) {
  test(`a worker that ends on SIGTERM loses no connection, and is started again (GET_BODIES=${GET_BODIES})`, async () => {
    await using fixture = await openServerFixture()
    const server = await fixture.start({ WORKERS: '2', GET_BODIES, DRAIN_GRACE_SECONDS: '0.1' })
    const port = Number(new URL(server.url).port)
    const counts = { answered: 0, reset: 0, refused: 0 }
    let isOver = false
    const work = async () => {
      while (!isOver) counts[await sendOnNewConnection(port)]++
    }
    const working = Array.from({ length: 24 }, work)
    for (let round = 0; round < 3; round++) {
      const [ended = 0] = workersOf(server.pid)
      const [answered, logged] = [counts.answered, server.stderr().length]
      while (counts.answered < answered + 100) await new Promise(setImmediate)
      process.kill(ended, 'SIGTERM')
      while (workersOf(server.pid).includes(ended)) await Bun.sleep(5)
      while (workersOf(server.pid).length < 2 || listenersOf(port) < 2) await Bun.sleep(5)
      expect(server.stderr().slice(logged)).toMatch(/"code":0,"signal":null,"restartMs":\d+,"msg":"worker died"/)
    }
    isOver = true
    await Promise.all(working)
    expect(counts).toMatchObject({ reset: 0, refused: 0 })
  }, 300_000)
}
