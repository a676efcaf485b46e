import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { until } from '../clients/fixture.ts'
import { fronts } from '../support/fronts.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { Client, type Event, handshake } from './websocket-client.ts'

const native = 'doubao-seed-emulated'
const bridged = 'bridged'

/** Sends a message with OpenAI's client, and reads the last event of the response. */
const ask = async (socket: ResponsesWS, message: object): Promise<Event> => {
  socket.send({ type: 'response.create', store: false, ...message })
  for await (const event of socket.stream()) {
    if (event.type === 'error') throw event.error
    if (event.type === 'message' && event.message.type === 'response.completed') return event.message
  }
}

for (const [runtime, getBodies] of fronts) {
  describe(`WebSocket on ${runtime}, GET_BODIES ${getBodies}`, () => {
    let fixture: ServerFixture
    let server: ServerProcess
    let environment: Record<string, string>
    let ann: { readonly id: string; readonly token: string }
    const lastCall = () => JSON.stringify(fixture.emulator.calls.findLast(({ api }) => api === 'text')?.json)

    beforeAll(async () => {
      fixture = await openServerFixture('sqlite', { text: { msPerDelta: 0 } })
      const { url, key } = fixture.emulator.text
      const upstreams = [
        { url, keyEnv: 'KEY', models: [native] },
        { url, keyEnv: 'KEY', models: [{ id: native, alias: bridged }], chatOnly: true },
      ]
      environment = {
        ...{ TEXT_UPSTREAMS: JSON.stringify(upstreams), KEY: key, GET_BODIES: getBodies },
        ...{ MAX_BODY_BYTES: '3000000', USER_MAX_STREAMS: '6' },
      }
      server = await fixture.start(environment, runtime)
      ann = await fixture.addUser('ann')
    }, 300_000)
    afterAll(() => fixture[Symbol.asyncDispose]())

    for (const model of [native, bridged]) {
      test(`OpenAI’s client continues a response that no store keeps: ${model}`, async () => {
        const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ann.token, maxRetries: 0 })
        const socket = new ResponsesWS(openai)
        const first = await ask(socket, { model, stream_id: 'main', input: 'remember seven' })
        expect(first.response.output_text ?? first.response.output[0].content[0].text).toContain('remember seven')
        const second = await ask(socket, {
          model,
          stream_id: 'main',
          previous_response_id: first.response.id,
          input: 'next',
        })
        expect([second.stream_id, second.response.id === first.response.id]).toEqual(['main', false])
        const sent = lastCall()
        expect(sent).not.toContain('previous_response_id')
        for (const text of ['remember seven', 'You wrote: “remember seven”', 'next']) expect(sent).toContain(text)
        const third = await ask(socket, {
          model,
          stream_id: 'main',
          previous_response_id: second.response.id,
          input: 'last',
        })
        expect(third.response.status).toBe('completed')
        for (const text of ['remember seven', 'next', 'last']) expect(lastCall()).toContain(text)
        socket.close()
      })

      test(`a prepared request is continued, and no upstream sees it before: ${model}`, async () => {
        const client = await Client.open(server.url, ann.token)
        const calls = fixture.emulator.calls.length
        const prepared = await client.turn({ model, generate: false, store: true, input: 'prepared words' })
        expect([prepared.type, prepared.response.output, prepared.response.status]).toEqual([
          ...['response.completed', [], 'completed'],
        ])
        expect(fixture.emulator.calls.length).toBe(calls)
        const next = await client.turn({ model, previous_response_id: prepared.response.id, input: 'now' })
        expect(next.type).toBe('response.completed')
        for (const text of ['prepared words', 'now']) expect(lastCall()).toContain(text)
        client.socket.close()
      })

      test(`a stored response is continued by its id: ${model}`, async () => {
        const client = await Client.open(server.url, ann.token)
        const first = await client.turn({ model, store: true, input: 'to be stored' })
        const other = await Client.open(server.url, ann.token)
        const next = await other.turn({ model, previous_response_id: first.response.id, input: 'go on' })
        expect(next.type).toBe('response.completed')
        for (const { socket } of [client, other]) socket.close()
      })
    }

    test('lanes run at the same time, each in order', async () => {
      const client = await Client.open(server.url, ann.token)
      const gate = fixture.emulator.faults.add({ kind: 'silence', events: 3, times: 1 })
      client.create({ model: native, stream_id: 'slow', input: 'first' })
      await gate.waitForHits(1)
      client.create({ model: native, stream_id: 'slow', input: 'second' })
      const fast = await client.turn({ model: native, stream_id: 'fast', input: 'third' })
      expect(fast.stream_id).toBe('fast')
      gate.release()
      const [one, two] = [await client.end(), await client.end()]
      expect([one.stream_id, two.stream_id]).toEqual(['slow', 'slow'])
      expect(JSON.stringify([one.response.output, two.response.output])).toMatch(/first.*second/)
      client.socket.close()
    })

    test('errors are events, and the connection stays open', async () => {
      const client = await Client.open(server.url, ann.token)
      const problem = async (message: object | string) => {
        client.send(message)
        const { status, error, stream_id } = await client.end()
        return [status, error.code ?? error.param ?? error.message, ...(stream_id === undefined ? [] : [stream_id])]
      }
      const create = { type: 'response.create', model: native, store: false }
      expect(await problem({ ...create, previous_response_id: 'resp_unknown', input: 'x' })).toEqual([
        ...[400, 'previous_response_not_found'],
      ])
      expect(await problem('{"type":')).toEqual([400, 'message is not valid JSON'])
      expect(await problem('[]')).toEqual([400, 'message must be a JSON object'])
      expect(await problem({ type: 'session.update' })).toEqual([400, 'type'])
      expect(await problem({ ...create, input: 5, stream_id: 'a' })).toEqual([400, 'input', 'a'])
      expect(await problem({ ...create, input: 'x', stream_id: 'a b' })).toEqual([400, 'invalid_stream_id'])
      expect(await problem({ ...create, input: 'x', background: true })).toEqual([400, 'background'])
      expect(await problem({ ...create, input: 'x', temperature: 3 })).toEqual([400, 'temperature'])
      expect(await problem(`{"type":"response.create","input":"${'x'.repeat(3_000_000)}"}`)).toEqual([
        ...[413, 'message is too large'],
      ])
      client.socket.send(Buffer.from([1, 2]), { binary: true })
      expect((await client.end()).error.message).toBe('message must be a text')
      fixture.emulator.faults.add({ kind: 'status', status: 429, headers: { 'retry-after': '3' } })
      client.create({ model: native, input: 'x' })
      expect(await client.end()).toMatchObject({ type: 'error', status: 429, headers: { 'retry-after': '3' } })
      fixture.emulator.faults.add({ kind: 'cut', how: 'reset', events: 5 })
      expect(await client.turn({ model: native, input: 'x' })).toMatchObject({ type: 'response.failed' })
      client.send({ type: 'response.steer', previous_response_id: 'resp_x', input: 'y' })
      expect((await client.end()).error.code).toBe('steering_not_supported')
      client.send({ type: 'response.processed', response_id: 'resp_x' })
      expect((await client.turn({ model: native, input: 'fine' })).type).toBe('response.completed')
      client.send(`"${'x'.repeat(5_000_000)}"`)
      expect((await client.closed)[0]).toBeOneOf([1006, 1009])
    })

    test('a connection needs a token, and ends when it is revoked', async () => {
      expect((await handshake(server.url, {})).status).toBe(401)
      const browser = { origin: 'https://evil.example', cookie: 'session=x', 'sec-fetch-site': 'cross-site' }
      expect((await handshake(server.url, browser)).status).toBe(401)
      const bob = await fixture.addUser('bob')
      const client = await Client.open(server.url, bob.token)
      const gate = fixture.emulator.faults.add({ kind: 'silence', events: 3, times: 1 })
      client.create({ model: native, input: 'x' })
      await gate.waitForHits(1)
      const [token] = await fixture.store.listTokens(bob.id)
      await fixture.store.revokeToken(token?.id ?? '', Date.now())
      expect(await client.end()).toMatchObject({ type: 'error', status: 401 })
      expect((await client.closed)[0]).toBe(1008)
      gate.release()
      expect((await handshake(server.url, { authorization: `Bearer ${bob.token}` })).status).toBe(401)
    })

    test('connections count as streams of the user', async () => {
      const carl = await fixture.addUser('carl')
      const clients = await Promise.all(Array.from({ length: 6 }, () => Client.open(server.url, carl.token)))
      const refused = await handshake(server.url, { authorization: `Bearer ${carl.token}` })
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
      clients[0]?.create({ model: native, input: 'x' })
      expect(await clients[0]?.end()).toMatchObject({ type: 'error', status: 429 })
      for (const { socket } of clients) socket.terminate()
      await until(async () => (await handshake(server.url, { authorization: `Bearer ${carl.token}` })).status === 101)
    })

    test('usage is recorded once', async () => {
      const dora = await fixture.addUser('dora')
      const client = await Client.open(server.url, dora.token)
      const { response } = await client.turn({ model: native, input: '33 tokens' })
      const spent = () => fixture.store.listUsage({ user: dora.id })
      await until(async () => (await spent()).length > 0)
      const { input_tokens: inputTokens, output_tokens: outputTokens } = response.usage
      expect(await spent()).toMatchObject([{ calls: 1, unreported: 0, inputTokens, outputTokens }])
      client.socket.close()
    })

    test('a server that stops finishes the response in flight, and closes the connections', async () => {
      const stopping = await fixture.start(environment, runtime)
      const idle = await Client.open(stopping.url, ann.token)
      const client = await Client.open(stopping.url, ann.token)
      const gate = fixture.emulator.faults.add({ kind: 'silence', events: 3, times: 1 })
      client.create({ model: native, input: 'the last one' })
      client.create({ model: native, input: 'not begun' })
      await gate.waitForHits(1)
      const ended = stopping.kill('SIGTERM')
      expect((await idle.closed)[0]).toBe(1001)
      expect(await client.end()).toMatchObject({ type: 'error', status: 503 })
      gate.release()
      expect((await client.end()).type).toBe('response.completed')
      expect((await client.closed)[0]).toBe(1001)
      expect(await ended).toBe(0)
    }, 300_000)

    test('the server still runs and has logged no warning about connections', async () => {
      expect((await fetch(`${server.url}/healthz`)).ok).toBe(true)
      expect(server.stdout() + server.stderr()).not.toMatch(/uncaught|unhandled|TypeError|at \w+ \(/i)
    })
  })
}
