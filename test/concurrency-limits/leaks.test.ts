import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { Fault } from '../../src/emulator/index.ts'
import { fronts } from '../support/fronts.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'

/** Pseudo-random numbers with a fixed seed. */
const seededRandom = (seed: number) => {
  let state = seed
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  return { next, one: <Value>(values: readonly Value[]): Value => values[next(values.length)] as Value }
}

const faults: readonly (Fault | undefined)[] = [
  undefined,
  { kind: 'hang' },
  { kind: 'reset-before' },
  { kind: 'status', status: 500 },
  { kind: 'delay', ms: 20 },
  { kind: 'silence', events: 'headers' },
  { kind: 'silence', events: 2 },
  { kind: 'cut', events: 1, how: 'reset' },
  { kind: 'cut', events: 1, how: 'fin', inside: true },
  { kind: 'error-event' },
  { kind: 'not-json' },
]

const messages = [{ role: 'user', content: 'hello' }]
const requests = [
  ['POST', '/v1/chat/completions', { model: 'emulated-wide', messages, stream: true }],
  ['POST', '/v1/chat/completions', { model: 'emulated-wide', messages, stream: true }],
  ['POST', '/v1/responses', { model: 'emulated-wide', input: 'hello', stream: true }],
  ['POST', '/v1/chat/completions', { model: 'emulated-wide', messages }],
  ['POST', '/v1/chat/completions', { model: 'emulated-no-stream', messages, stream: true }],
  ['POST', '/v1/chat/completions', { model: 7 }],
  ['GET', '/v1/models'],
  ['HEAD', '/v1/models'],
  ['GET', '/api/media/proxy/assets/none'],
  ['HEAD', '/api/media/proxy/assets/groups'],
  ['POST', '/api/media/proxy/assets', { GroupId: 'none' }],
  ['GET', '/nowhere'],
] as const

type Part = 'nothing' | 'half a body' | 'half a chunk' | 'all'

/** Sends a request or a part of it over a new connection, and closes the connection after a while. */
const send = (
  server: ServerProcess,
  token: string | undefined,
  [method, path, body]: (typeof requests)[number],
  part: Part,
  stayMs: number,
): Promise<void> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.on('data', () => {})
    socket.on('close', () => resolve())
    const text = body ? JSON.stringify(body) : ''
    const head = [
      `${method} ${path} HTTP/1.1`,
      'host: localhost',
      ...(token ? [`authorization: Bearer ${token}`] : []),
      ...(text ? ['content-type: application/json'] : []),
      ...(text && part === 'half a chunk' ? ['transfer-encoding: chunked'] : []),
      ...(text && part !== 'half a chunk' ? [`content-length: ${text.length}`] : []),
      'connection: close',
    ].join('\r\n')
    const half = text.slice(0, text.length / 2)
    const sent = { nothing: '', 'half a body': half, 'half a chunk': `ff\r\n${half}`, all: text }[part]
    socket.on('connect', () => {
      socket.write(`${head}\r\n\r\n${sent}`)
      setTimeout(() => socket.destroy(), stayMs)
    })
  })

const inFlight = async ({ url }: ServerProcess): Promise<string[]> => {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer of-metrics' } })).text()
  return text.split('\n').filter((line) => /^sluice_(?:requests_in_flight|streams_open|body_bytes_held) /.test(line))
}

describe.each(fronts)('on %s with GET_BODIES=%s', (runtime, getBodies) => {
  test('after disconnects and upstream failures the number of requests in flight returns to zero', async () => {
    await using fixture = await openServerFixture()
    const server = await fixture.start(
      {
        GET_BODIES: getBodies,
        METRICS_TOKEN: 'of-metrics',
        LOG_LEVEL: 'silent',
        TEXT_UPSTREAM_URL: fixture.emulator.text.url,
        TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
        // Some requests exceed the limit. Rejected requests must not count.
        USER_MAX_REQUESTS: '6',
        USER_MAX_STREAMS: '4',
        USER_MAX_UNREAD_BODY_BYTES: '600',
      },
      runtime,
    )
    const users = [await fixture.addUser('ann'), await fixture.addUser('bob')]
    const { next, one } = seededRandom(7)
    for (let round = 0; round < 12; round++) {
      for (let nth = 0; nth < 3; nth++) {
        const fault = one(faults)
        if (fault) fixture.emulator.faults.add(fault)
      }
      await Promise.all(
        Array.from({ length: 20 }, () =>
          send(
            server,
            next(8) === 0 ? undefined : one(users).token,
            one(requests),
            one<Part>(['all', 'all', 'all', 'nothing', 'half a body', 'half a chunk']),
            next(60),
          ),
        ),
      )
      fixture.emulator.faults.clear()
    }
    // The metrics request itself.
    const nothing = ['sluice_requests_in_flight 1', 'sluice_streams_open 0', 'sluice_body_bytes_held 0']
    for (const until = Date.now() + 15_000; Date.now() < until; await Bun.sleep(50)) {
      if (Bun.deepEquals(await inFlight(server), nothing)) break
    }
    expect(await inFlight(server)).toEqual(nothing)
  }, 300_000)
})
