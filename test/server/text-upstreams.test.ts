import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repeatedRuntimes } from '../support/fronts.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { chunk, streaming } from '../text-generation/fixture.ts'

setDefaultTimeout(300_000)

const done = [chunk({ role: 'assistant', content: 'x' }), chunk({}, 'stop'), '[DONE]']
const notFound = () => Response.json({ detail: 'Not Found' }, { status: 404 })

/** An upstream on loopback, by its paths. */
const serve = (answers: Record<string, () => Response>) => {
  const asked: { readonly path: string; readonly headers: Headers; readonly model: unknown }[] = []
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname
      const { model } = request.method === 'POST' ? ((await request.json()) as { model: unknown }) : {}
      asked.push({ path, headers: request.headers, model })
      return (answers[path] ?? notFound)()
    },
  })
  return { asked, url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) }
}

/** Nothing listens on this port, and no port that the system picks has this number. */
const closedUrl = 'http://127.0.0.1:2/v1'

describe.each(repeatedRuntimes)('the default server on %s with TEXT_UPSTREAMS', (runtime) => {
  test('routes, fails over, bridges, lists models, and reports each upstream', async () => {
    using backup = serve({ '/api/v3/chat/completions': () => streaming(done) })
    using locked = serve({ '/v1/chat/completions': () => Response.json({ error: 'no' }, { status: 401 }) })
    const path = '/models/m.gguf'
    using local = serve({
      '/v1/chat/completions': () => streaming(done),
      '/v1/models': () => Response.json({ object: 'list', data: [{ id: path, object: 'model', meta: { n_ctx: 8 } }] }),
    })
    const upstreams = [
      { name: 'down', url: closedUrl, models: ['m'] },
      {
        name: 'backup',
        url: `${backup.url}/api/v3/`,
        keyEnv: 'TEXT_BACKUP_KEY',
        headers: { 'x-tenant': 'blue' },
        models: ['m', { id: 'vendor/a', alias: 'a', contextLength: 1000 }],
        failover: true,
      },
      { url: `${locked.url}/v1`, keyEnv: 'TEXT_LOCKED_KEY', models: ['k'] },
      { name: 'local', url: `${local.url}/v1` },
    ]
    const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
    const file = join(folder, 'upstreams.json')
    writeFileSync(file, JSON.stringify(upstreams))
    await using fixture = await openServerFixture()
    const server = await fixture.start(
      {
        TEXT_UPSTREAMS: runtime === 'bun' ? `@${file}` : JSON.stringify(upstreams),
        ...{
          TEXT_BACKUP_KEY: 'key-of-the-backup',
          TEXT_LOCKED_KEY: 'key-that-is-rejected',
          METRICS_TOKEN: 'of-metrics',
        },
      },
      runtime,
    )
    rmSync(folder, { recursive: true })
    const { token } = await fixture.addUser('ann')
    const ask = async (path: string, body?: object, authorization = `Bearer ${token}`) => {
      const headers = { authorization, 'content-type': 'application/json' }
      const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
      const response = await fetch(`${server.url}${path}`, init)
      return { status: response.status, text: await response.text() }
    }
    const chat = (model: string, stream = false) =>
      ask('/v1/chat/completions', { model, stream, messages: [{ role: 'user', content: 'hi' }] })

    for (const stream of [true, false]) expect((await chat('m', stream)).status).toBe(200)
    expect((await chat('a')).status).toBe(200)
    expect(backup.asked.map(({ path, model }) => [path, model])).toEqual(
      ['m', 'm', 'vendor/a'].map((model) => ['/api/v3/chat/completions', model]),
    )
    expect(backup.asked[0]?.headers.get('authorization')).toBe('Bearer key-of-the-backup')
    expect(backup.asked[0]?.headers.get('x-tenant')).toBe('blue')

    for (let again = 0; again < 2; again++)
      expect(await ask('/v1/responses', { model: path, input: 'hi' })).toMatchObject({ status: 200 })
    expect(local.asked.map(({ path }) => path)).toEqual([
      '/v1/responses',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ])

    const host = new URL(locked.url).host
    const rejected = await chat('k')
    expect([rejected.status, rejected.text]).toEqual([502, expect.stringContaining('credentials of this gateway')])
    const keyRejected = /"level":"error".*"upstream":"127\.0\.0\.1:\d+".*rejected the gateway's key/
    // A log is written in the background.
    while (!keyRejected.test(server.stderr())) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(JSON.parse((await ask('/readyz')).text).upstreams[`text ${host}`]).toBe("rejects the gateway's key")

    const { data } = JSON.parse((await ask('/v1/models')).text) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['m', 'a', 'k', path])
    for (const id of [path, encodeURIComponent(path)])
      expect(JSON.parse((await ask(`/v1/models/${id}`)).text)).toMatchObject({ id: path, meta: { n_ctx: 8 } })
    expect(JSON.parse((await ask('/v1/models/a')).text)).toMatchObject({ id: 'a', context_length: 1000 })

    expect(JSON.parse((await ask('/readyz')).text)).toMatchObject({
      status: 'ok',
      upstreams: {
        text: 'reachable',
        'text down': 'unreachable',
        'text backup': 'reachable',
        'text local': 'reachable',
      },
    })
    const metrics = (await ask('/metrics', undefined, 'Bearer of-metrics')).text.split('\n')
    const calls = (upstream: string, status: number) =>
      `sluice_upstream_calls_total{upstream="${upstream}",action="CreateChatCompletion",status="${status}"}`
    for (const line of [
      `${calls('down', 0)} 2`,
      `${calls('backup', 200)} 3`,
      `${calls(host, 401)} 1`,
      `${calls('local', 200)} 2`,
    ])
      expect(metrics).toContain(line)
    const everything = server.stdout() + server.stderr() + metrics.join('\n')
    for (const secret of ['key-of-the-backup', 'key-that-is-rejected']) expect(everything).not.toContain(secret)
  })
})
