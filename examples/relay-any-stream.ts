/** Relays the event stream of a server, at port 4003 here, byte for byte and counts its events. When the client disconnects, the plugin aborts the upstream call. */
import { Elysia } from 'elysia'
import { createNodeServer } from 'sluice'
import { sseRelay } from 'sluice/sse-relay'

export const counted = new Map<string, number>()

export const app = new Elysia()
  .use(sseRelay({ heartbeatMs: 15_000, maxSilenceMs: 120_000 }))
  .get('/news', ({ relay }) =>
    relay((signal) => fetch('http://127.0.0.1:4003/news', { signal }), {
      onFrame({ event }) {
        if (event) counted.set(event.type, (counted.get(event.type) ?? 0) + 1)
        return event?.type === 'internal' ? null : undefined
      },
    }),
  )

if (import.meta.main) await createNodeServer(app).listen(3000)
