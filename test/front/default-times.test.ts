import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Runtime, startServer } from '../support/server.ts'
import { host, json, Wire } from './wire.ts'

const slow = process.env.SLUICE_SLOW !== undefined

/** Every combination that listens in a way of its own. */
const servers: readonly [Runtime, 'on' | 'off'][] = [
  ['bun', 'on'],
  ['bun', 'off'],
  ['deno', 'on'],
]

describe.skipIf(!slow)('the default server, with the times that it has', () => {
  test.concurrent.each(servers)(
    'on %s, GET_BODIES %s: lets nobody keep a connection for nothing',
    async (runtime, getBodies) => {
      const server = await startServer({ DATABASE_URL: 'sqlite::memory:', GET_BODIES: getBodies }, runtime)
      const wires: Wire[] = []
      const dial = (text = '') => {
        const wire = new Wire(connect(Number(new URL(server.url).port), '127.0.0.1'))
        wires.push(wire)
        if (text !== '') wire.write(text)
        return wire
      }
      try {
        const half = `POST /api/session HTTP/1.1\r\n${host}${json}Content-Length: 100\r\n\r\n{"name":`
        // As many as locked everybody out when none was ever closed.
        const idle = Array.from({ length: 800 }, (_, at) => dial(['', 'GET / HT', half][at % 3]))
        const kept = dial(`GET /healthz HTTP/1.1\r\n${host}\r\n`)
        expect((await kept.answer()).status).toBe(200)
        for (let turn = 0; turn < 20; turn++) {
          const wire = dial(`GET /healthz HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
          expect((await wire.answer()).status).toBe(200)
        }
        await Promise.all(idle.map((wire) => wire.closed))
        await kept.closed
      } finally {
        for (const wire of wires) wire.socket.destroy()
        await server.kill('SIGKILL')
      }
    },
    120_000,
  )
})
