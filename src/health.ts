import { Elysia } from 'elysia'

export interface Health {
  /** Rejects when the database does not answer. */
  readonly database: () => Promise<void>
  /** Whether the server is stopping: then it wants no new work. */
  readonly draining: () => boolean
  /** What is known of the upstreams; never a reason to be unready. */
  readonly upstreams: () => Readonly<Record<string, string>>
}

/** `GET /healthz`: the process lives. `GET /readyz`: 200 when it can serve, else 503; says which part is down. */
export const health = ({ database, draining, upstreams }: Health) =>
  new Elysia({ name: 'sluice/health' })
    .get('/healthz', () => json(200, { status: 'ok' }))
    .get('/readyz', async () => {
      const up = await database().then(
        () => true,
        () => false,
      )
      const ready = up && !draining()
      return json(ready ? 200 : 503, {
        status: ready ? 'ok' : draining() ? 'stopping' : 'unavailable',
        database: up ? 'ok' : 'down',
        upstreams: upstreams(),
      })
    })

const json = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
