import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import OpenAI from 'openai'
import { openServerFixture } from '../support/server-fixture.ts'
import { all, hello, model, openFixture, thrown, until } from './fixture.ts'

/* A forwarded 200 with such a body makes OpenAI's client return a completion without `choices`. */
describe('a 200 response of the upstream whose body is no completion or response becomes 502', () => {
  for (const body of ['{}', '{"error":"busy"}', '{"code":1302,"msg":"busy","success":false}', '{"choices":null}']) {
    for (const protocol of ['chat', 'responses'] as const) {
      test(`${protocol}: ${body}`, async () => {
        await using fixture = await openFixture()
        const headers = { 'content-type': 'application/json' }
        fixture.emulator.text.respondWith({ headers, chunks: [body] })
        const caught = await thrown(
          protocol === 'chat'
            ? fixture.openai.chat.completions.create({ model, messages: hello('hi') })
            : fixture.openai.responses.create({ model, input: 'hi' }),
        )
        expect(caught).toBeInstanceOf(OpenAI.InternalServerError)
        expect(caught).toMatchObject({ status: 502 })
      })
    }
  }
})

/* Both a streaming and a non-streaming response treat `"index":null` as 0. */
test('a choice whose index is null is the first one, also in a stream', async () => {
  await using fixture = await openFixture({ checked: 'own' })
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: null, delta, finish_reason }] })}\n\n`
  fixture.emulator.text.respondWith({
    chunks: [chunk({ content: 'hi' }, null), chunk({}, 'stop'), 'data: [DONE]\n\n'],
  })
  const chunks = await all(await fixture.openai.chat.completions.create({ model, messages: hello('hi'), stream: true }))
  expect(chunks[0]?.choices[0]?.delta.content).toBe('hi')
})

/* The limit for one event is 16 MiB. */
test('an event that is too large is an invalid response of the upstream', async () => {
  await using fixture = await openFixture()
  fixture.emulator.text.respondWith({ chunks: [`data: ${'x'.repeat(2 ** 24)}`] })
  const caught = await thrown(fixture.openai.chat.completions.create({ model, messages: hello('hi') }))
  expect(caught).toMatchObject({ status: 502, error: { message: 'upstream returned an invalid response' } })
})

/** Sends raw bytes, and resolves with all received bytes when the connection closes. */
const askRaw = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('close', () => resolve(received))
    socket.write(bytes)
  })

/*
 * RFC 9112 section 3.2 requires Host in HTTP/1.1 requests only. Health checks of some load balancers (HAProxy's `option httpchk`)
 * are HTTP/1.0 requests without Host.
 */
test('a health check with HTTP/1.0 needs no Host', async () => {
  await using fixture = await openFixture()
  expect(await askRaw(fixture.gateway.url, 'GET /healthz HTTP/1.0\r\n\r\n')).toStartWith('HTTP/1.1 200')
})

/* Errors below /v1 have OpenAI's format, also those of the HTTP listener. */
test('a malformed request below /v1 is rejected in OpenAI’s error format', async () => {
  await using fixture = await openFixture()
  const received = await askRaw(
    fixture.gateway.url,
    'GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
  )
  expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4))).toMatchObject({
    error: { type: 'invalid_request_error', param: null },
  })
})

/*
 * When the body of a request arrives in a separate packet, as with OpenAI's client, `Deno.serve` (2.9.6) aborts the signal only after the response.
 * So the default server listens through `node:http` on Deno.
 */
test('on Deno with GET_BODIES off, the upstream call is aborted when the caller disconnects before the response', async () => {
  await using fixture = await openServerFixture('sqlite')
  const { url, key } = fixture.emulator.text
  const server = await fixture.start({ TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key, GET_BODIES: 'off' }, 'deno')
  const { token } = await fixture.addUser('ann')
  fixture.emulator.faults.add({ kind: 'hang' })
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const body = JSON.stringify({ model, messages: hello('hi') })
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.write(body)
  await until(() => fixture.emulator.calls.length === 1)
  socket.destroy()
  await until(() => fixture.emulator.calls[0]?.aborted === true)
}, 300_000)
