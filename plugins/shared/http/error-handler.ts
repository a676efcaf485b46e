import { type Audit, noAudit } from '../audit.ts'
import type { Awaitable } from '../awaitable.ts'
import { inNextTurn } from '../background/next-turn.ts'
import { type Log, noLog, Problem, type ProblemBody, problemBody, renderError } from '../problem.ts'

/**
 * The option of a plugin for its errors: the JSON body of their responses, or `throw`.
 *
 * The plugin responds to its errors itself, so that no `onError` of the host app changes them. With `throw` it throws
 * them, as `Problem`, to the `onError` of the host app.
 */
export type ErrorsOption = ProblemBody | 'throw'

export interface ErrorHandlerOptions {
  /** Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  /** Receives unexpected errors, and the causes of problems. */
  readonly log?: Log
  /** Receives the events of problems. */
  readonly audit?: Audit
  /** Adds headers to a response. */
  readonly finish?: (response: Response) => Response
}

/** The parts of Elysia's context that a handler passes on. */
export interface HandlerContext {
  readonly request: Request
  readonly set: { status?: number | string }
}

/** The parts of Elysia's context that a guard passes on. */
export interface GuardContext extends HandlerContext {
  readonly status: unknown
}

/** Responds to the errors of a plugin's routes and guards. */
export interface ErrorHandler {
  /** Returns the response of `work`, or that to its error: see `routesOf`. */
  handle(context: HandlerContext, work: () => Awaitable<Response>): Promise<Response>
  /** For the `catch` of a route's handler: returns the response, or throws the error with `errors: 'throw'`. */
  respond(error: unknown, context: HandlerContext): Response
  /**
   * For the `catch` of a guard (a `resolve` hook), which returns what this returns: Elysia then sends the response, and
   * does not run the handler. Throws the error with `errors: 'throw'`.
   */
  stop(error: unknown, context: GuardContext): never
}

/**
 * Creates the error handler of a plugin.
 *
 * A plugin catches its errors, because Elysia (1.4.30) runs the `onError` hooks of the host app before those of a
 * plugin: the host's hook would respond to every error that the plugin throws.
 */
export const createErrorHandler = (options: ErrorHandlerOptions): ErrorHandler => {
  const { errors = problemBody(), log = noLog, audit = noAudit, finish } = options

  const respond = (error: unknown, { request, set }: HandlerContext): Response => {
    if (error instanceof Problem && error.event) audit.note({ ...error.event, status: error.status }, request)
    if (errors === 'throw') throw error
    const rendered = renderError(error, { body: errors, log, request })
    const response = finish ? finish(rendered) : rendered
    setStatusLater(set, response.status)
    return response
  }

  return {
    respond,
    async handle(context, work) {
      try {
        return await work()
      } catch (error) {
        return respond(error, context)
      }
    },
    stop(error, context) {
      const response = respond(error, context)
      // Elysia's `status` comes from the context, because a host may run another copy of Elysia, which does not
      // recognize what ours returns.
      const early = typeof context.status === 'function' ? (context.status as EarlyStatus)(200, response) : undefined
      // The host may have replaced `status` in the context. To return something else would run the handler without its
      // guard.
      if (early?.response !== response) throw error
      throwWhenCopied(early, error)
      inNextTurn(() => {
        early.code = response.status
      })
      return early as never
    },
  }
}

/**
 * Creates the handler of a route that is not called often, from a function that may throw, and the names of the path
 * parameters whose decoded values it takes. A value that cannot be decoded is an empty text, which names nothing.
 */
export const routesOf =
  ({ handle }: Pick<ErrorHandler, 'handle'>) =>
  <const Names extends readonly string[]>(
    respond: (request: Request, ...values: ValuesOf<Names>) => Awaitable<Response>,
    ...names: Names
  ) =>
  // Elysia reads in the source of a handler what it uses of the context.
  async ({ request, params, set }: HandlerContext & { readonly params: PathParameters<Names> }): Promise<Response> =>
    handle({ request, set }, () =>
      respond(request, ...(names.map((name: Names[number]) => decodedParameter(params[name])) as ValuesOf<Names>)),
    )

type ValuesOf<Names extends readonly string[]> = { [Each in keyof Names]: string }
type PathParameters<Names extends readonly string[]> = Readonly<Record<Names[number], PathParameter>>

/** A path parameter in Elysia's context: null (1.4.30) when its percent-encoding cannot be decoded. */
export type PathParameter = string | null

/** The text of a path parameter; empty when it cannot be decoded. */
export const decodedParameter = (parameter: PathParameter): string => parameter ?? ''

/**
 * Elysia's `status`: a guard that returns its result ends the request with `response`. Status 200 leaves the response
 * as it is.
 */
type EarlyStatus = (code: 200, response: Response) => { code: number; readonly response: unknown }

/**
 * Makes Elysia throw the error instead of running the handler when it does not recognize `early`, which a function of
 * the host may have made.
 *
 * Elysia copies what a `resolve` hook returns into the context (`Object.assign`), except the result of its own
 * `status`. The copy reads this getter. Its key is a symbol, so that a host can still log or serialize the result.
 */
const throwWhenCopied = (early: object, error: unknown): void => {
  Object.defineProperty(early, rejected, {
    enumerable: true,
    // A host may return the same object twice.
    configurable: true,
    get() {
      throw error
    },
  })
}

/**
 * One symbol for all: with a new one, each object would need a new structure in the engine, which costs ten times as
 * much.
 */
const rejected = Symbol('rejected')

/**
 * Sets `set.status` for the hooks that run after the response.
 *
 * The response has its own status. If `set` has one too, Elysia (1.4.30) copies the response, and its body through a
 * stream. So `set` gets the status after Elysia has mapped the response, and before `onAfterResponse`, which Elysia
 * calls in the next turn.
 */
const setStatusLater = (set: HandlerContext['set'], status: number): void => {
  inNextTurn(() => {
    set.status = status
  })
}
