import { createHash, randomBytes } from 'node:crypto'
import { areSecretsEqual } from '../../shared/identity/equal-secrets.ts'
import { storeCall } from '../../shared/store-call.ts'
import { type FaceContext, faceNotChecked } from '../context.ts'
import { statusPathTo } from '../status.ts'
import type { Verification } from '../store.ts'
import { callbackPage, type PageOutcome, prefetchResponse } from './page.ts'

/** A random state of 256 bits. It authenticates the browser that the upstream redirects to the callback page. */
export const createState = (): string => randomBytes(32).toString('base64url')

/** Hash of a state. The store holds only this hash. */
export const hashState = (state: string): string => createHash('sha256').update(state).digest('hex')

const isState = (text: string): boolean => /^[\w-]{43}$/.test(text)

/** What the query of a callback reports. */
export interface CallbackResult {
  /** `bytedToken` of the session; undefined when the query has none. */
  readonly token: string | undefined
  /** Whether the check succeeded. */
  readonly succeeded: boolean
}

/**
 * Reads the query of a callback: `resultCode` 10000 means success. Undefined without a code, or with a parameter twice.
 */
export const readCallbackResult = (parameters: URLSearchParams): CallbackResult | undefined => {
  const [code, ...otherCodes] = parameters.getAll('resultCode')
  const [token, ...otherTokens] = parameters.getAll('bytedToken')
  if (!code || otherCodes.length > 0 || otherTokens.length > 0) return undefined
  return { token, succeeded: code === '10000' }
}

/** Whether the browser prefetches or prerenders the page, before the person opens it. */
export const isPrefetch = (headers: Headers): boolean =>
  ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /prefetch|prerender|preview/i.test(headers.get(name) ?? ''),
  )

/**
 * Records the result that a person's browser reports, once for each task. Returns `unknown`, and changes nothing, when
 * the state or the token is wrong or the query is not valid.
 *
 * When the check succeeded, it calls `resolve` with the task, and waits for it.
 */
export const processCallback = async (
  { store, clock }: Pick<FaceContext, 'store' | 'clock'>,
  state: string,
  parameters: URLSearchParams,
  resolve: (task: Verification) => Promise<void>,
): Promise<PageOutcome> => {
  if (!isState(state)) return 'unknown'
  const hash = hashState(state)
  const task = await storeCall(store.verificationByState(hash), faceNotChecked)
  const result = readCallbackResult(parameters)
  if (!task || !result || !tokensAgree(result.token, task.token)) return 'unknown'
  const path = statusPathTo(task.status, result.succeeded ? 'callback_received' : 'failed')
  if (task.status === 'waiting_user' && path) {
    const moved = await storeCall(store.moveVerification(task.id, path, { dueAt: clock.now() }), faceNotChecked)
    if (moved && result.succeeded) await resolve(task)
  }
  return outcomeOf(await storeCall(store.verificationByState(hash), faceNotChecked))
}

/** How long the callback page waits for the result. The task is resolved in the background when that takes longer. */
const maxPageWaitMs = 3_000

/**
 * Serves the callback page. `poll` polls the upstream for a task; when that takes longer than `maxPageWaitMs`, it
 * continues in the background.
 */
export const serveCallback = (context: FaceContext, poll: (id: string) => Promise<unknown>) => {
  const { clock, log } = context

  const pollWithin = ({ id }: Verification): Promise<void> =>
    new Promise((resolve) => {
      const cancelTimer = clock.at(clock.now() + maxPageWaitMs, resolve)
      poll(id)
        .catch((err: unknown) => log.warn({ err, verification: id }, 'face verification could not be polled'))
        .finally(() => {
          cancelTimer()
          resolve()
        })
    })

  return async (request: Request, state: string, consentUrl: string | undefined): Promise<Response> => {
    // Elysia routes HEAD to the GET handler. A HEAD request must not use up the state either.
    if (request.method !== 'GET' || isPrefetch(request.headers)) return prefetchResponse()
    const query = new URLSearchParams(request.url.split('?').slice(1).join('?'))
    const outcome = await processCallback(context, state, query, pollWithin).catch((err: unknown): PageOutcome => {
      log.error({ err }, 'the callback of a face verification could not be processed')
      return 'error'
    })
    return callbackPage(outcome, request.headers.get('accept-language'), consentUrl)
  }
}

const outcomeOf = (task: Verification | undefined): PageOutcome => {
  switch (task?.status) {
    case 'callback_received':
    case 'resolving':
      return 'received'
    case 'verified':
    case 'failed':
    case 'expired':
      return task.status
    default:
      return 'unknown'
  }
}

/**
 * Whether two tokens are equal. A token that is missing agrees with every other: the state is the credential, and the
 * stored token is deleted when the task ends.
 */
const tokensAgree = (received: string | undefined, expected: string | undefined): boolean =>
  received === undefined || expected === undefined || areSecretsEqual(received, expected)
