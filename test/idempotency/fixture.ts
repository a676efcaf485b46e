import { expect } from 'bun:test'
import { createIdempotency, type IdempotencyOptions, type IdempotentRequest } from '../../plugins/idempotency/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import type { Store } from '../../src/store/index.ts'

/** A creator of things that counts them, with two instances of the plugin on two stores of one database. */
export interface Things {
  /** Moves the clock of both instances. */
  pass(ms: number): void
  /** Sends a creation. `by` 1: through the second instance. */
  create(key: string | undefined, more?: Partial<CreationOptions>): Promise<Response>
  /** The names of the created things, in order. */
  readonly made: readonly string[]
  /** The warnings in the log. */
  readonly warnings: readonly string[]
}

export interface CreationOptions extends Omit<IdempotentRequest, 'body'> {
  readonly by: 0 | 1
  readonly body: string
  /** Creates the thing. Default: responds with its name, as JSON. */
  readonly handle: Parameters<ReturnType<typeof createIdempotency>['run']>[2]
}

let things = 0

export const openThings = (stores: readonly Store[], options: Partial<IdempotencyOptions> = {}): Things => {
  let now = 1_000_000
  const made: string[] = []
  const warnings: string[] = []
  const ignore = () => {}
  const log: Log = { debug: ignore, info: ignore, warn: (_, message) => warnings.push(message), error: ignore }
  const instances = stores.map(({ idempotency }) =>
    createIdempotency({ store: idempotency, clock: { now: () => now, at: systemClock.at }, log, ...options }),
  )
  const scope = `things ${++things}`
  return {
    made,
    warnings,
    pass: (ms) => {
      now += ms
    },
    async create(key, { by = 0, user = 'ann', route = 'create', body = 'a thing', handle, ...more } = {}) {
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
      const request = new Request('http://localhost/', { method: 'POST', headers })
      const makeThing = () => {
        made.push(body)
        return Response.json(
          { thing: made.length },
          { status: 201, headers: { location: `/${made.length}`, date: 'x' } },
        )
      }
      const creation = { user, route: `${scope} ${route}`, body: new TextEncoder().encode(body), ...more }
      const run = instances[by]?.run(request, creation, handle ?? makeThing)
      if (!run) throw new Error('there is no such instance')
      return run
    },
  }
}

/** Status, kept headers and body of a response. */
export const contentOf = async (response: Response) => ({
  status: response.status,
  type: response.headers.get('content-type'),
  location: response.headers.get('location'),
  replayed: response.headers.get('idempotent-replayed'),
  text: await response.text(),
})

/** The status and message of a problem. */
export const problemOf = async (response: Promise<Response>) => {
  const error = await response.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Error)
  const { status, code, headers } = error as { status: number; code: string; headers?: Record<string, string> }
  return { status, code, retryAfter: headers?.['retry-after'] }
}
