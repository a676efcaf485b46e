import { expect, test } from 'bun:test'
import type { InFlight } from '../../plugins/shared/http/in-flight.ts'
import { messageTurn } from '../../plugins/shared/http/turn/request-turn.ts'
import { noLog, Problem } from '../../plugins/shared/problem.ts'
import { maxUnread } from '../../plugins/text-generation/websocket/arrivals.ts'
import { ResponsesConnection } from '../../plugins/text-generation/websocket/connection.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

const minute = 60_000

const handshake = new Request('http://localhost/v1/responses')

/** A connection to a peer that answers pings. */
const connect = ({
  inFlight,
  answers = true,
  maxBodyBytes = 1_000,
  whenRead,
}: {
  readonly inFlight?: Partial<InFlight>
  readonly answers?: boolean
  readonly maxBodyBytes?: number
  /** Resolves when the peer reads. Default: it reads at once. */
  readonly whenRead?: Promise<void>
} = {}) => {
  const clock = new VirtualClock()
  const sent: string[] = []
  const log: string[] = []
  let release = () => {}
  const counted = { sending() {}, sent() {}, streaming() {}, streamed() {}, ...inFlight } as InFlight
  let revoke = () => {}
  const connection = new ResponsesConnection({
    requestFor: (body, signal) =>
      new Request('http://localhost/v1/responses', { method: 'POST', body: body.slice(), signal }),
    inFlight: counted,
    takeTurn: (hasLeft) => messageTurn(handshake, hasLeft),
    whenRevoked(listener) {
      revoke = listener
      return () => {}
    },
    maxBodyBytes,
    clock,
    log: noLog,
  })
  const events = (id: string) =>
    `data: {"type":"response.completed","response":{"id":"${id}","output":[{"type":"message","n":1.0},{"type":"reasoning"}]}}\n\n`
  const bodies: string[] = []
  const open = () =>
    connection.onOpen(
      {
        send(text) {
          sent.push(text)
          return whenRead
        },
        ping() {
          log.push('ping')
          if (answers) connection.onPong()
        },
        close: (code) => void log.push(`close ${code}`),
        terminate: () => void log.push('terminate'),
      },
      async (request) => {
        bodies.push(await request.text())
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return new Response(events(`resp_${bodies.length}`), { headers: { 'content-type': 'text/event-stream' } })
      },
    )
  const create = async (fields: object) => {
    connection.onMessage(JSON.stringify({ type: 'response.create', model: 'm', store: false, input: [], ...fields }))
    await settled()
  }
  const finish = async () => {
    release()
    await settled()
  }
  return { clock, connection, sent, log, bodies, open, create, finish, revoke: () => revoke() }
}

test('items are repeated with their own text, and reasoning without its content is left out', async () => {
  const { open, create, finish, bodies } = connect()
  open()
  await create({ input: [{ role: 'user', content: 'a' }] })
  await finish()
  await create({ input: 'b', previous_response_id: 'resp_1' })
  expect(bodies[1]).toBe(
    '{"model":"m","store":false,"input":[{"role":"user","content":"a"},{"type":"message","n":1.0},{"type":"message","role":"user","content":"b"}],"stream":true}',
  )
})

test('a response that a store has is continued by its id', async () => {
  const { open, create, finish, bodies } = connect()
  open()
  await create({ store: true, input: 'a' })
  await finish()
  await create({ store: true, input: 'b', previous_response_id: 'resp_1' })
  expect(JSON.parse(bodies[1] ?? '')).toMatchObject({ input: 'b', previous_response_id: 'resp_1' })
})

test('a message has at most 16 MiB', async () => {
  const { connection, open, sent } = connect({ maxBodyBytes: 2 ** 26 })
  expect(connection.maxMessageBytes).toBe(2 ** 24 + 2 ** 20)
  open()
  connection.onMessage('x'.repeat(2 ** 24 + 1))
  await settled()
  expect(JSON.parse(sent[0] ?? '')).toMatchObject({ status: 413, error: { message: 'message is too large' } })
  connection.onMessage('x'.repeat(2 ** 24))
  await settled()
  expect(JSON.parse(sent[1] ?? '')).toMatchObject({ status: 400, error: { message: 'message is not valid JSON' } })
})

test('messages that arrive at once are read in many turns of the event loop, whatever they contain', async () => {
  const { connection, open, sent } = connect({ maxBodyBytes: 2 ** 16 })
  open()
  for (let each = 0; each < 100; each++) {
    connection.onMessage(undefined)
    connection.onMessage('x')
    connection.onMessage('{"type":"response.create","model":"m","input":[],"generate":false}')
  }
  let most = 0
  for (let before = 0, turn = 0; turn < 100; turn++) {
    await settled()
    most = Math.max(most, sent.length - before)
    before = sent.length
  }
  expect(sent).toHaveLength(100 + 100 + 300)
  // A prepared response has three events.
  expect(most).toBeLessThanOrEqual(3 * 32)
})

test('a connection that sends more messages than may wait is closed, and nothing more of it is read', async () => {
  const { connection, open, sent, log } = connect()
  open()
  for (let each = 0; each < maxUnread; each++) connection.onMessage('x')
  expect(log).toEqual([])
  for (let each = 0; each < 1_000; each++) connection.onMessage('x')
  await settled(200)
  expect(log).toEqual(['close 1008'])
  expect(sent).toHaveLength(1)
})

test('the bytes of a message that is arriving count, and above the limit the connection closes', async () => {
  let counted = 0
  const { connection, open, log, sent } = connect({
    inFlight: {
      sending(bytes) {
        if (bytes > 700) throw new Problem(429, 'too many bytes of bodies at once')
        counted = bytes
      },
      sent() {
        counted = 0
      },
    },
  })
  open()
  connection.onPart(600)
  expect(counted).toBe(600)
  connection.onPart(0)
  expect(counted).toBe(0)
  connection.onPart(701)
  expect([counted, log]).toEqual([0, ['close 1013']])
  expect(JSON.parse(sent[0] ?? '')).toMatchObject({ status: 429 })
})

test('a message that does not arrive in two minutes closes the connection', async () => {
  const { clock, connection, open, log } = connect()
  open()
  connection.onPart(1)
  await clock.pass(2 * minute)
  expect(log).not.toContain('close 1008')
  connection.onPart(2)
  await clock.pass(minute)
  expect(log).toContain('close 1008')
})

test('after 60 minutes the connection ends, when its responses have', async () => {
  const { clock, open, create, finish, sent, log } = connect()
  open()
  await create({})
  await clock.pass(61 * minute)
  expect(JSON.parse(sent.at(-1) ?? '').error.code).toBe('websocket_connection_limit_reached')
  await create({})
  expect(sent).toHaveLength(2)
  expect(log).not.toContain('close 1000')
  await finish()
  expect(log).toContain('close 1000')
})

test('a peer that answers no ping is gone', async () => {
  const { clock, open, log } = connect({ answers: false })
  open()
  await clock.pass(5 * minute)
  expect(log).toEqual(['ping', 'ping', 'ping', 'terminate'])
})

test('a connection that does not close after its last event is cut', async () => {
  const { clock, connection, open, log } = connect()
  open()
  connection.onStop()
  await clock.pass(minute)
  expect(log).toEqual(['close 1001', 'terminate'])
})

test('counts end with the connection, also when a server never opens it', async () => {
  let streams = 0
  const inFlight = {
    streaming: () => void streams++,
    streamed: () => void streams--,
  }
  const opened = connect({ inFlight })
  opened.open()
  opened.connection.onClose()
  opened.connection.onClose()
  expect([streams, opened.clock.pending]).toEqual([0, 0])
  const lost = connect({ inFlight })
  await lost.clock.pass(minute)
  expect(streams).toBe(0)
})

test('a revoked credential ends the connection at once', async () => {
  const { open, create, revoke, sent, log } = connect()
  open()
  await create({})
  revoke()
  expect(JSON.parse(sent.at(-1) ?? '')).toMatchObject({ type: 'error', status: 401 })
  expect(log).toEqual(['close 1008'])
  await create({})
  expect(sent).toHaveLength(1)
})

test('conversations above the maximum, and above the limit of the user, are forgotten', async () => {
  const { open, create, finish, bodies } = connect()
  open()
  await create({ input: 'x'.repeat(800), stream_id: 'a' })
  await finish()
  await create({ input: 'y'.repeat(800), stream_id: 'b' })
  await finish()
  await create({ previous_response_id: 'resp_1', stream_id: 'a' })
  expect(bodies[2]).toContain('"previous_response_id":"resp_1"')
  await finish()
  await create({ previous_response_id: 'resp_2', stream_id: 'c' })
  expect(bodies[3]).toContain('yyy')
  let isFull = false
  const full = connect({
    inFlight: {
      sending(bytes) {
        if (isFull && bytes > 0) throw new Error('too many bytes')
      },
    },
  })
  full.open()
  await full.create({})
  isFull = true
  await full.finish()
  isFull = false
  await full.create({ previous_response_id: 'resp_1' })
  expect(full.bodies[1]).toContain('"previous_response_id":"resp_1"')
})

test('messages that wait have together the size of one at most', async () => {
  const { open, create, finish, sent, bodies } = connect()
  open()
  await create({ input: 'a'.repeat(600) })
  await create({ input: 'b'.repeat(600) })
  await create({ input: 'c'.repeat(600) })
  expect(sent.map((text) => JSON.parse(text))).toMatchObject([
    { type: 'error', status: 429, error: { message: 'too many messages at once' } },
  ])
  await finish()
  await create({ input: 'd'.repeat(600) })
  await finish()
  expect(bodies.map((body) => JSON.parse(body).input[0])).toEqual(['a', 'b', 'd'])
})

test('a peer that sends messages, and does not read the errors, is cut', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { connection, open, sent, log } = connect({ whenRead: promise })
  open()
  connection.onMessage(undefined)
  connection.onMessage(undefined)
  await settled()
  expect([sent.length, log]).toEqual([1, ['terminate']])
  resolve()
  await settled()
  connection.onMessage(undefined)
  await settled()
  expect([sent.length, log]).toEqual([2, ['terminate']])
})

test('messages that wait count among the bytes of the user, and above the limit they are a 429', async () => {
  let counted = 0
  const { open, create, finish, sent, bodies, connection } = connect({
    inFlight: {
      sending(bytes) {
        if (counted + bytes > 700) throw new Problem(429, 'too many bytes of bodies at once')
        counted += bytes
      },
      sent() {
        counted = 0
      },
    },
  })
  open()
  await create({ input: 'a'.repeat(100) })
  expect(counted).toBe(0)
  await create({ input: 'b'.repeat(300) })
  expect(counted).toBeWithin(300, 400)
  await create({ input: 'd'.repeat(500) })
  expect(JSON.parse(sent[0] ?? '')).toMatchObject({
    ...{ type: 'error', status: 429, error: { message: 'too many bytes of bodies at once' } },
  })
  expect(counted).toBeWithin(300, 400)
  await finish()
  expect(bodies.at(-1)).toContain('bbb')
  expect(counted).toBeLessThan(300)
  connection.onClose()
  await finish()
  expect(counted).toBe(0)
})

test('a peer whose message takes longer than it may be silent is not gone, until the message takes too long', async () => {
  const { clock, connection, open, log } = connect({ answers: false })
  open()
  for (let part = 1; part < 12; part++) {
    connection.onPart(part)
    await clock.pass(10_000)
  }
  expect(log.filter((each) => each !== 'ping')).toEqual([])
  connection.onPart(12)
  await clock.pass(minute)
  expect(log.filter((each) => each !== 'ping')[0]).toBe('close 1008')
})
