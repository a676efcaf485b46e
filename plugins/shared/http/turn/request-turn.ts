import type { Problem } from '../../problem.ts'
import { currentUser } from '../current-request.ts'
import { PromisedTurn } from './promised-turn.ts'
import { RequestTurns, type WaitingForTurn } from './request-turns.ts'

/** Of the process: it has one event loop. */
let turns = new RequestTurns()

/** Forgets all requests. For a simulation, which has the lives of several processes in one. */
export const forgetRequestTurns = (): void => {
  turns = new RequestTurns()
}

/**
 * For a listener, before each request: whether the request may be handled now, or has had its turn before. Otherwise
 * `waiting.begin` is called when it may be, or with Problem 503 when it must not be, because too many requests wait, or
 * because its caller has left.
 *
 * A turn of the event loop handles some requests only. Bun (1.4.5) accepts connections in one turn for as long as there
 * are more, and handles their first requests in between: callers that open a new connection for each request, and get
 * each response at once, would keep the requests on all other connections waiting, for ever.
 *
 * @param request undefined: the listener rejects it, because it is not valid
 */
export const mayBegin = (request: Request | undefined, waiting: WaitingForTurn): boolean =>
  turns.mayBegin(request, waiting)

/**
 * The same with a promise: undefined if the request may be handled now.
 *
 * @param hasLeft whether the caller has disconnected
 */
export const requestTurn = (request: Request, hasLeft: () => boolean): Promise<Problem | undefined> | undefined => {
  const turn = new Turn(hasLeft)
  return turns.mayBegin(request, turn) ? undefined : turn.untilBegun()
}

/** The same for a message of a WebSocket connection. @param handshake the request that has opened it */
export const messageTurn: typeof requestTurn = (handshake, hasLeft) => {
  const turn = new Turn(hasLeft)
  return turns.mayGoOn(handshake, turn) ? undefined : turn.untilBegun()
}

class Turn extends PromisedTurn {
  readonly #hasLeft: () => boolean

  constructor(hasLeft: () => boolean) {
    super()
    this.#hasLeft = hasLeft
  }

  get hasLeft(): boolean {
    return this.#hasLeft()
  }
}

/**
 * For the response of an upstream to a request of the current user: undefined if it may be handled now, otherwise wait.
 * Responses to many requests may arrive in one turn.
 */
export const responseTurn = (): Promise<unknown> | undefined => turns.resume(currentUser)

/** Notes the user of a request, so that requests that wait with the same credential take turns as this user's. */
export const noteTurnUser = (request: Request, user: string): void => turns.identified(request, user)

/** Requests of this process that wait for a turn now, and those that were refused since its start. */
export const requestTurnCounts = (): { readonly waiting: number; readonly refused: number } => ({
  waiting: turns.waiting,
  refused: turns.refused,
})
