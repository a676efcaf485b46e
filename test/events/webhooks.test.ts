import { beforeAll, expect, test } from 'bun:test'
import { type EventsOptions, events, type WebhookOptions } from '../../plugins/events/index.ts'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { newUser } from './fixture.ts'

repeatOnDatabases('webhooks', (tested) => {
  let store: Store
  beforeAll(async () => {
    store = await tested.open()
  })

  const recorded: AuditEvent[] = []
  const audit: EventsOptions['audit'] = {
    note: (event) => void recorded.push(event),
    record: async (event) => void recorded.push(event),
  }
  const identify: EventsOptions['identify'] = (request) => {
    const user = request.headers.get('x-user')
    return user === null ? undefined : { user }
  }
  const appOf = (more: Partial<WebhookOptions> = {}) =>
    events({ store, identify, audit, webhooks: { store, identify, publicUrl: 'https://sluice.example', ...more } })
  const ask = async (
    user: string,
    method: string,
    path = '',
    body?: unknown,
    { app = appOf(), headers = {} }: { app?: ReturnType<typeof appOf>; headers?: Record<string, string> } = {},
  ) => {
    const response = await app.handle(
      new Request(`https://sluice.example/api/webhooks${path}`, {
        method,
        headers: { 'x-user': user, origin: 'https://sluice.example', 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    return { status: response.status, json: JSON.parse(await response.text()), headers: response.headers }
  }
  const url = 'https://ann.example/hook'

  test('are created, listed and deleted by their user only; only one response has the secret', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const created = await ask(ann, 'POST', '', { url, types: ['video.*', 'asset.active', 'video.*'] })
    expect([created.status, created.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const { secret, ...webhook } = created.json.webhook
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(webhook).toEqual({
      ...{ id: expect.any(String), url, types: ['video.*', 'asset.active'], status: 'active', waiting: 0 },
      ...{ created_at: expect.any(String), delivered_at: null, failing_since: null, last_error: null },
      disabled_at: null,
    })
    expect((await ask(ann, 'GET')).json).toEqual({ success: true, webhooks: [webhook] })
    expect((await ask(bob, 'GET')).json).toEqual({ success: true, webhooks: [] })
    const foreign = await ask(bob, 'DELETE', `/${webhook.id}`)
    const unknown = await ask(bob, 'DELETE', '/00000000-0000-4000-8000-000000000000')
    expect([foreign.status, foreign.json]).toEqual([404, unknown.json])
    recorded.length = 0
    expect((await ask(ann, 'DELETE', `/${webhook.id}`)).json).toEqual({ success: true })
    expect((await ask(ann, 'DELETE', `/${webhook.id}`)).status).toBe(404)
    expect((await ask(ann, 'GET')).json.webhooks).toEqual([])
    expect(recorded.map(({ action }) => action)).toEqual(['webhook.delete', 'access.refuse'])
  })

  test('have a maximum for each user, also for concurrent requests', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const app = appOf({ maxWebhooks: 3 })
    const responses = await Promise.all(Array.from({ length: 8 }, () => ask(ann, 'POST', '', { url }, { app })))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409, 409, 409])
    expect(responses.find(({ status }) => status === 409)?.json.error.message).toBe(
      'there are 3 webhooks already; delete one first',
    )
    expect((await ask(bob, 'POST', '', { url }, { app })).status).toBe(200)
  })

  test('need an address on the public internet, and types that can exist', async () => {
    const ann = newUser()
    const types = 'types must be 1 to 50 types of events such as video.succeeded or video.*'
    const form = 'url must be an http or https URL of at most 2048 characters, without credentials and fragment'
    for (const [body, message] of [
      [{}, form],
      [{ url: 5 }, form],
      [{ url: 'ftp://ann.example/' }, form],
      [{ url: `${url}\0` }, form],
      [{ url: 'https://ann.example/\ud800' }, form],
      [{ url: 'http://169.254.169.254/' }, 'url must be on the public internet'],
      [{ url: 'http://[::ffff:127.0.0.1]/' }, 'url must be on the public internet'],
      [{ url, types: [] }, types],
      [{ url, types: 'video.*' }, types],
      [{ url, types: ['video'] }, types],
      [{ url, types: [null] }, types],
    ] as const) {
      const { status, json } = await ask(ann, 'POST', '', body)
      expect([body, status, json.error?.message]).toEqual([body, 400, message])
    }
    expect((await ask(ann, 'POST', '', '{')).status).toBe(400)
    expect((await ask(ann, 'POST', '', 'url=x', { headers: { 'content-type': 'text/plain' } })).status).toBe(415)
    expect((await ask(ann, 'POST', '', { url, more: 'x'.repeat(20_000) })).status).toBe(413)
    const all = await ask(ann, 'POST', '', { url: 'https://Ann.example/ä', types: null })
    expect([all.status, all.json.webhook?.url, all.json.webhook?.types]).toEqual([
      ...[200, 'https://ann.example/%C3%A4', null],
    ])
    expect((await ask(ann, 'GET')).json.webhooks).toHaveLength(1)
  })

  test('go to networks that are not public where the operator allows them', async () => {
    const app = appOf({ networks: ['127.0.0.0/8'] })
    expect((await ask(newUser(), 'POST', '', { url: 'http://127.0.0.1:9/' }, { app })).status).toBe(200)
    expect((await ask(newUser(), 'POST', '', { url: 'http://10.0.0.1/' }, { app })).status).toBe(400)
  })

  test('are changed by pages of this service only', async () => {
    const ann = newUser()
    for (const method of ['POST', 'DELETE']) {
      const { status } = await ask(
        ann,
        method,
        method === 'POST' ? '' : '/x',
        { url },
        { headers: { origin: 'https://evil.example' } },
      )
      expect([method, status]).toEqual([method, 403])
    }
    expect((await ask(ann, 'GET')).json.webhooks).toEqual([])
  })
})
