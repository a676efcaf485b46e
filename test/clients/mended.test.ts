import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import OpenAI from 'openai'
import { openWorkplace } from '../support/temporary-files.ts'
import { all, hello, model, openClients, thrown, until } from './clients.ts'

/*
 * Expected: "a success status whose body is not the JSON object expected: 502", and P10, P12, P17 of the pains: an error, or nothing, under status 200.
 * It once was so: a plain call to an upstream that answers plainly hands such an object on with status 200; only `{"error":{…}}` is noticed. The official client then gives a
 * completion without `choices`. The same answers to a stream, and through the bridge, are 502 already.
 */
describe('an object under 200 that is no answer is an error', () => {
  for (const body of ['{}', '{"error":"busy"}', '{"code":1302,"msg":"busy","success":false}', '{"choices":null}']) {
    for (const protocol of ['chat', 'responses'] as const) {
      test(`${protocol}: ${body}`, async () => {
        await using clients = await openClients()
        const headers = { 'content-type': 'application/json' }
        clients.emulator.text.answer({ headers, chunks: [body] })
        const caught = await thrown(
          protocol === 'chat'
            ? clients.openai.chat.completions.create({ model, messages: hello('hi') })
            : clients.openai.responses.create({ model, input: 'hi' }),
        )
        expect(caught).toBeInstanceOf(OpenAI.InternalServerError)
        expect(caught).toMatchObject({ status: 502 })
      })
    }
  }
})

/*
 * Expected: one reading of an upstream for both ways to answer. It once was so: `"index":null` is taken for 0 when an answer is put together, but counts for nothing in a relayed
 * stream, whose caller gets "upstream broke off its answer" after a whole answer. (Low: few upstreams do so.)
 */
test('a choice whose index is null is the first, in a stream too', async () => {
  await using clients = await openClients()
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: null, delta, finish_reason }] })}\n\n`
  clients.emulator.text.answer({
    chunks: [chunk({ content: 'hi' }, null), chunk({}, 'stop'), 'data: [DONE]\n\n'],
  })
  const chunks = await all(await clients.openai.chat.completions.create({ model, messages: hello('hi'), stream: true }))
  expect(chunks[0]?.choices[0]?.delta.content).toBe('hi')
})

/*
 * Expected: an answer that makes no sense is `upstream returned an invalid response`. It once was so: an event beyond 16 MiB is `Seedance upstream unavailable`, since
 * `asProblem` takes everything that it does not know for a connection that failed. (Low.)
 */
test('an event that is too large is an invalid answer', async () => {
  await using clients = await openClients()
  clients.emulator.text.answer({ chunks: [`data: ${'x'.repeat(2 ** 24)}`] })
  const caught = await thrown(clients.openai.chat.completions.create({ model, messages: hello('hi') }))
  expect(caught).toMatchObject({ status: 502, error: { message: 'upstream returned an invalid response' } })
})

/** What comes back for bytes as they stand. */
const askRaw = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let said = ''
    socket.on('data', (chunk) => {
      said += chunk
    })
    socket.on('close', () => resolve(said))
    socket.write(bytes)
  })

/*
 * Expected: RFC 9112 section 3.2 asks for a Host in HTTP/1.1 only; HTTP/1.0 has none, and the health checks of some balancers (HAProxy's `option httpchk`) are HTTP/1.0
 * without one. It once was so: 400, so such a balancer takes the gateway for dead.
 */
test('a health check in HTTP/1.0 needs no Host', async () => {
  await using clients = await openClients()
  expect(await askRaw(clients.gateway.url, 'GET /healthz HTTP/1.0\r\n\r\n')).toStartWith('HTTP/1.1 200')
})

/* Expected: errors below /v1 have the shape of the text protocol. It once was so: what the front itself refuses has the shape of the asset library. (Low.) */
test('a request below /v1 that no server should have to understand is refused in the shape of the protocol', async () => {
  await using clients = await openClients()
  const said = await askRaw(
    clients.gateway.url,
    'GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
  )
  expect(JSON.parse(said.slice(said.indexOf('\r\n\r\n') + 4))).toMatchObject({
    error: { type: 'invalid_request_error', param: null },
  })
})

/*
 * `Deno.serve` (2.9.6) aborts the signal of a request whose body came in a packet of its own, as the official client's does, only when the response has been sent. So the
 * default server listens through `node:http` there.
 */
test('on Deno with GET_BODIES off, a caller that leaves before the answer begins frees the upstream', async () => {
  await using place = await openWorkplace('sqlite')
  const { url, key } = place.emulator.text
  const server = await place.start({ TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key, GET_BODIES: 'off' }, 'deno')
  const { token } = await place.addUser('ann')
  place.emulator.faults.add({ kind: 'hang' })
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const body = JSON.stringify({ model, messages: hello('hi') })
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.write(body)
  await until(() => place.emulator.calls.length === 1)
  socket.destroy()
  const gone = until(() => place.emulator.calls[0]?.aborted === true).then(() => true)
  expect(await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 3000, false))])).toBe(true)
}, 20_000)
