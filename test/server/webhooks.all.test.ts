/** Runs with `--all`: webhooks of two processes, for each database and runtime; events/webhooks.test.ts tests them in one. */
import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { databaseNames } from '../support/database.ts'
import type { Runtime } from '../support/server.ts'
import { arkOf, browse, openFixture } from './fixture.ts'

const runtimes: readonly Runtime[] = ['bun', 'deno']

interface Received {
  readonly headers: Record<string, string>
  readonly body: string
}

for (const kind of databaseNames) {
  for (const runtime of runtimes) {
    test(`a webhook receives each event once, whichever process has recorded it (${kind}, ${runtime})`, async () => {
      await using fixture = await openFixture(kind)
      const received: Received[] = []
      let failures = 1
      const receiver = createServer(async (request, response) => {
        const parts: Buffer[] = []
        for await (const part of request) parts.push(part)
        const fails = failures-- > 0
        if (!fails) {
          received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(parts).toString() })
        }
        response.writeHead(fails ? 503 : 200).end()
      })
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
      await fixture.addPerson('ann')

      const closed = await fixture.start(arkOf(fixture), runtime)
      const outside = await browse(closed, 'ann')
      const rejected = await outside.ask('POST', '/api/webhooks', { url })
      expect([rejected.status, rejected.json.error.message]).toEqual([400, 'url must be on the public internet'])
      await closed.kill('SIGKILL')

      const environment = { ...arkOf(fixture), WEBHOOK_NETWORKS: '127.0.0.1', METRICS_TOKEN: 'metrics-token' }
      const servers = await Promise.all([fixture.start(environment, runtime), fixture.start(environment, runtime)])
      const [first, second] = servers as [(typeof servers)[0], (typeof servers)[0]]
      const ann = await browse(first, 'ann')
      const created = await ann.ask('POST', '/api/webhooks', { url, types: ['face_verification.*'] })
      expect(created.status).toBe(200)
      const { id, secret } = created.json.webhook as { id: string; secret: string }
      const checks: string[] = []
      for (const server of servers) {
        const reply = await ann.ask('POST', '/api/media/face-verifications', {}, {}, server)
        checks.push(reply.json.verification_id)
      }
      while (received.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
      for (const { headers, body } of received) new Webhook(secret).verify(body, headers)
      expect(received.map(({ body }) => JSON.parse(body).data.verification_id).sort()).toEqual(checks.sort())
      const list = async () => (await ann.ask('GET', '/api/webhooks', undefined, {}, second)).json.webhooks
      // The outcome is recorded after the response.
      while ((await list())[0].waiting > 0) await new Promise((resolve) => setTimeout(resolve, 20))
      expect(await list()).toMatchObject([{ id, url, status: 'active', last_error: null }])
      const counts = await Promise.all(
        servers.map(async (server) => {
          const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer metrics-token' } })
          const text = await metrics.text()
          return Number(/^sluice_webhook_attempts_total\{kind="webhook",status="200"\} (\d+)$/m.exec(text)?.[1] ?? 0)
        }),
      )
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2)
      expect((await ann.ask('DELETE', `/api/webhooks/${id}`)).status).toBe(200)
      for (const server of servers) expect(server.stderr()).not.toContain(secret)
      receiver.close()
    }, 300_000)
  }
}
