import { expect, test } from 'bun:test'
import { repeatedRuntimes } from '../support/fronts.ts'
import { openServerFixture } from '../support/server-fixture.ts'

/** A collector of OpenTelemetry: receives `POST /v1/traces` in the protocol's binary form. */
const startCollector = (status = 200) => {
  const received: { path: string; type: string | null; authorization: string | null; text: string }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { headers, url } = request
      received.push({
        path: new URL(url).pathname,
        type: headers.get('content-type'),
        authorization: headers.get('authorization'),
        text: Buffer.from(await request.bytes()).toString('latin1'),
      })
      return new Response(null, { status })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, received, stop: () => server.stop(true) }
}

for (const runtime of repeatedRuntimes) {
  test(`on ${runtime}, the server sends its traces to a collector, the last ones when it stops`, async () => {
    const collector = startCollector()
    await using fixture = await openServerFixture()
    const server = await fixture.start(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
        OTEL_SERVICE_NAME: 'the-gateway',
        TEXT_UPSTREAM_URL: fixture.emulator.text.url,
        TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
        LOG_LEVEL: 'trace',
      },
      runtime,
    )
    const { token, id, at } = await fixture.addUser('ann')
    const group = (await at(server).ask('POST', '/assets/groups', { Name: 'the-name-of-a-group' })).json.Result.Id
    const generated = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"model":"doubao-seed-emulated","messages":[{"role":"user","content":"the-words-of-a-caller"}]}',
    })
    expect(generated.status).toBe(200)
    await generated.bytes()
    expect(await server.kill('SIGTERM')).toBe(0)
    collector.stop()

    expect(collector.received.length).toBeGreaterThan(0)
    for (const { path, type, authorization } of collector.received) {
      expect([path, type, authorization]).toEqual(['/v1/traces', 'application/x-protobuf', 'Bearer of-the-collector'])
    }
    const text = collector.received.map((each) => each.text).join('')
    for (const expected of [
      ...['the-gateway', 'POST /api/media/proxy/assets/groups', 'CreateAssetGroup', 'sluice.action'],
      ...['POST /v1/chat/completions', 'chat doubao-seed-emulated', 'gen_ai.usage.output_tokens'],
    ]) {
      expect(text).toContain(expected)
    }
    const { rest, text: upstream } = fixture.emulator
    for (const secret of ['the-words-of-a-caller', 'the-name-of-a-group', token, id, group, rest.key, upstream.key]) {
      expect(text).not.toContain(secret)
    }
    expect(server.stderr()).not.toContain('of-the-collector')
  }, 300_000)
}

test('the server works and stops in time when the collector is down', async () => {
  await using fixture = await openServerFixture()
  const down = startCollector()
  down.stop()
  const server = await fixture.start({ OTEL_EXPORTER_OTLP_ENDPOINT: down.url })
  const { at } = await fixture.addUser('ann')
  expect((await at(server).ask('POST', '/assets/groups', { Name: 'one' })).status).toBe(200)
  expect(await server.kill('SIGTERM')).toBe(0)
}, 300_000)

test('the log says that the collector rejects traces', async () => {
  await using fixture = await openServerFixture()
  const collector = startCollector(400)
  const server = await fixture.start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const { at } = await fixture.addUser('ann')
  await at(server).ask('GET', '/assets/groups')
  expect(await server.kill('SIGTERM')).toBe(0)
  collector.stop()
  expect(server.stderr()).toContain('traces could not be exported')
}, 300_000)
