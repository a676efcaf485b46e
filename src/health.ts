import { Elysia } from 'elysia'

/** The state that the health routes report. */
export interface Health {
  /** Rejects when the database does not respond. */
  readonly database: () => Promise<void>
  /** Whether the server is stopping: then it is not ready. */
  readonly draining: () => boolean
  /** State of each upstream. For information only: an upstream that is down does not make the server unready. */
  readonly upstreams: () => Readonly<Record<string, string>>
}

/** `GET /healthz`: 200 while the process runs. `GET /readyz`: 200 when the server can accept requests, else 503; the body names what is down. */
export const health = ({ database, draining, upstreams }: Health) =>
  new Elysia({ name: 'sluice/health' })
    .get('/healthz', () => json(200, { status: 'ok' }))
    .get('/readyz', async () => {
      const databaseUp = await database().then(
        () => true,
        () => false,
      )
      const ready = databaseUp && !draining()
      return json(ready ? 200 : 503, {
        status: ready ? 'ok' : draining() ? 'stopping' : 'unavailable',
        database: databaseUp ? 'ok' : 'down',
        upstreams: upstreams(),
      })
    })

const json = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
