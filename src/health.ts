import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import {
  errorBody,
  errorResponses,
  jsonResponse,
  noStoreHeader,
  type ResponseDescription,
  routeOptions,
} from '../plugins/shared/openapi.ts'

/** The state that the health routes report. */
export interface Health {
  /** Rejects when the database does not respond. */
  readonly database: () => Promise<void>
  /** Whether the server is stopping: then it is not ready. */
  readonly draining: () => boolean
  /** State of each upstream. For information only: an upstream that is down does not make the server unready. */
  readonly upstreams: () => Readonly<Record<string, string>>
}

const docs = (operationId: string, summary: string, responses: Readonly<Record<string, ResponseDescription>>) =>
  routeOptions({
    operationId,
    summary,
    tags: ['operation'],
    security: [],
    responses: { ...responses, ...errorResponses(errorBody, 400) },
  })

const alive = Type.Object({ status: Type.Literal('ok') }, { title: 'Alive' })
const healthzDocs = docs('checkLiveness', 'Whether the process runs', {
  200: jsonResponse('It runs', alive, noStoreHeader),
})

const readiness = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('stopping'), Type.Literal('unavailable')]),
    database: Type.Union([Type.Literal('ok'), Type.Literal('down')]),
    upstreams: Type.Record(Type.String(), Type.String(), { description: 'The state of each upstream, in words' }),
  },
  { title: 'Readiness' },
)
const readyzDocs = docs('checkReadiness', 'Whether the server can accept requests', {
  200: jsonResponse('It can', readiness, noStoreHeader),
  503: jsonResponse('It cannot', readiness, noStoreHeader),
})

/** `GET /healthz`: 200 while the process runs. `GET /readyz`: 200 when the server can accept requests, else 503; the body names what is down. */
export const health = ({ database, draining, upstreams }: Health) =>
  new Elysia({ name: 'sluice/health' })
    .get('/healthz', () => json(200, { status: 'ok' }), healthzDocs)
    .get(
      '/readyz',
      async () => {
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
      },
      readyzDocs,
    )

const json = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
