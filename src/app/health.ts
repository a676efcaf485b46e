import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { hasNoSpace } from '../../plugins/shared/no-space.ts'
import {
  errorBody,
  errorResponses,
  jsonResponse,
  noStoreHeader,
  type ResponseDescription,
  routeOptions,
} from '../../plugins/shared/plugin/openapi.ts'
import type { CircuitState } from '../../plugins/shared/upstream/circuit.ts'

/** The state that the health routes report. */
export interface Health {
  /** Rejects when the database does not respond or has no room. */
  readonly database: () => Promise<void>
  /**
   * Rejects when the storage of files has no room, or does not work. For information only: all but uploads, copies of
   * results and links to files works.
   * Undefined: there is no storage.
   */
  readonly storage?: (() => Promise<void>) | undefined
  /** Whether the server is stopping: then it is not ready. */
  readonly draining: () => boolean
  /** State of each upstream. For information only: an upstream that is down does not make the server unready. */
  readonly upstreams: () => Readonly<Record<string, string>>
  /** How many circuits of upstreams have each state. For information only. Undefined: there are none. */
  readonly circuits?: (() => Readonly<Record<CircuitState, number>>) | undefined
  /** How many failed reads were sent again, and how many were not. For information only. Undefined: nobody counts. */
  readonly retries?: Readonly<Record<'sent' | 'refused', number>>
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

const count = Type.Integer({ minimum: 0 })
const partState = Type.Union([Type.Literal('ok'), Type.Literal('full'), Type.Literal('down')])
const readiness = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('stopping'), Type.Literal('unavailable')]),
    database: partState,
    storage: Type.Optional(partState),
    upstreams: Type.Record(Type.String(), Type.String(), { description: 'The state of each upstream, in words' }),
    circuits: Type.Optional(
      Type.Object(
        { closed: count, open: count, 'half-open': count },
        {
          description:
            'Upstreams and actions by whether this process sends their calls: not while `open`, and one at a time while `half-open`',
        },
      ),
    ),
    retries: Type.Optional(
      Type.Object(
        { sent: count, refused: count },
        {
          description:
            'Failed reads of the asset library that this process has sent again since its start, or has not, to spare the upstream',
        },
      ),
    ),
  },
  { title: 'Readiness' },
)
const readyzDocs = docs('checkReadiness', 'Whether the server can accept requests', {
  200: jsonResponse('It can', readiness, noStoreHeader),
  503: jsonResponse('It cannot', readiness, noStoreHeader),
})

/**
 * `GET /healthz`: 200 while the process runs. `GET /readyz`: 200 when the server can accept requests, else 503; the
 * body names what is down.
 */
export const health = ({ database, storage, draining, upstreams, circuits, retries }: Health) =>
  new Elysia({ name: 'sluice/health' })
    .get('/healthz', () => json(200, { status: 'ok' }), healthzDocs)
    .get(
      '/readyz',
      async () => {
        const [databaseState, storageState] = await Promise.all([stateOf(database), storage && stateOf(storage)])
        const ready = databaseState === 'ok' && !draining()
        return json(ready ? 200 : 503, {
          status: ready ? 'ok' : draining() ? 'stopping' : 'unavailable',
          database: databaseState,
          ...(storageState && { storage: storageState }),
          upstreams: upstreams(),
          ...(circuits && { circuits: statesOf(circuits()) }),
          ...(retries && { retries }),
        })
      },
      readyzDocs,
    )

const statesOf = ({ closed, open, 'half-open': halfOpen }: Readonly<Record<CircuitState, number>>) => ({
  ...{ closed, open, 'half-open': halfOpen },
})

/** The states of a part: it works, has no room, or does not work. */
export const partStates = ['ok', 'full', 'down'] as const
export type PartState = (typeof partStates)[number]

/** The state of a part by its check. */
export const stateOf = (check: () => Promise<void>): Promise<PartState> =>
  check().then(
    () => 'ok',
    (error: unknown) => (hasNoSpace(error) ? 'full' : 'down'),
  )

const json = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
