import { type Awaitable, andThen } from '../../../shared/awaitable.ts'
import { Pace, runInTurns, runSteps, type SteppedWork, valuesPerStep } from '../../../shared/background/turns.ts'
import type { Clock } from '../../../shared/clock.ts'
import type { JsonBody } from '../../../shared/http/body/body.ts'
import { entriesPerTurn, isLarge, type Json } from '../../../shared/json/json.ts'
import type { Log } from '../../../shared/problem.ts'
import { TextProblem } from '../../protocol/problem.ts'
import type { IssuedObjects } from '../issued.ts'
import { objectNotFound } from '../ownership.ts'
import { type Continuation, continueRequest, referenceIdOf, withoutGatewayItems } from './continuation.ts'
import { createResponseRecorder, toInputItems } from './recorder.ts'
import type { StoredResponseStore } from './store.ts'

export interface StoredResponsesOptions {
  readonly store: StoredResponseStore
  /** Milliseconds for which a response is kept. */
  readonly ttlMs: number
  /** Maximum bytes of all responses of one user. */
  readonly maxUserBytes: number
  /** Maximum bytes of a request with the stored items that it refers to. */
  readonly maxRequestBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** The responses that the gateway stores, because their upstreams have chat completions only. */
export interface StoredResponses {
  /** Adds the stored items that a request refers to, see `continueRequest`. */
  continueRequest(body: JsonBody, caller: { readonly user: string; readonly request: Request }): Awaitable<Continuation>
  /**
   * The recorder of a response. Undefined if the input is too large for the store: then the response says `store:
   * false`.
   *
   * Throws TextProblem 400 for too many items.
   */
  recorder(continuation: Continuation, user: string): Awaitable<IssuedObjects | undefined>
}

/** Items of one input. Each is a row. */
const maxInputItems = 4_096

export const createStoredResponses = (options: StoredResponsesOptions): StoredResponses => {
  const { store, maxUserBytes, maxRequestBytes, clock } = options
  return {
    continueRequest: (body, caller) =>
      continueRequest(body, caller, { store, now: clock.now(), maxBytes: maxRequestBytes }),

    recorder({ previous, expiresAt, ownItems, ownBytes }, user) {
      // The other half is for the output.
      if (ownBytes > maxUserBytes / 2) return undefined
      if (ownItems.length > maxInputItems) {
        const message = `Invalid 'input': array too long. Expected an array with maximum length ${maxInputItems}, but got an array with length ${ownItems.length} instead.`
        throw new TextProblem(400, message, { param: 'input', code: 'array_above_max_length' })
      }
      // Not with every turn: a renewal writes all earlier ones.
      const renews = expiresAt !== undefined && expiresAt < clock.now() + options.ttlMs / 2
      const input = toInputItems(ownItems)
      return andThen(ownItems.length > valuesPerStep ? runInTurns(input) : runSteps(input), (items) =>
        createResponseRecorder({ ...options, user, previous, renews, input: items }),
      )
    },
  }
}

/**
 * The request for the upstream: a bridged one gets all items with their content, any other none that it does not know.
 *
 * Throws TextProblem 404 for an item that a bridged request contains by reference only.
 */
export const requestFor = (continuation: Continuation, bridged: boolean): Awaitable<Json> => {
  const { json } = continuation.body
  if (!bridged) return continuation.mayHoldGatewayItem ? withoutGatewayItems(json) : json
  const steps = requireContents(continuation)
  return isLarge(json) ? runInTurns(steps) : runSteps(steps)
}

function* requireContents({ body, ownItems }: Continuation): SteppedWork<Json> {
  const pace = new Pace(entriesPerTurn)
  for (const [index, item] of ownItems.entries()) {
    if (pace.isDue()) yield
    const id = referenceIdOf(item)
    if (id !== undefined) throw objectNotFound('item', id, `input[${index}].id`)
  }
  return body.json
}
