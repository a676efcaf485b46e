import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type FaceContext, fromStore } from './context.ts'
import type { PageOutcome } from './page.ts'
import { statusPathTo } from './status.ts'
import type { Verification } from './store.ts'

/** 256 random bits. Whoever knows them is the browser that the upstream sent back, or was told by it. */
export const createState = (): string => randomBytes(32).toString('base64url')

/** All that is kept of a state. */
export const hashState = (state: string): string => createHash('sha256').update(state).digest('hex')

const isState = (text: string): boolean => /^[\w-]{43}$/.test(text)

/** What the upstream has a person's browser say: whether the check went well. */
export interface CallbackResult {
  readonly token: string | undefined
  readonly isGood: boolean
}

/** Undefined for what the upstream would not say: no code, or anything twice. Only 10000 is good. */
export const readCallbackResult = (parameters: URLSearchParams): CallbackResult | undefined => {
  const [code, ...otherCodes] = parameters.getAll('resultCode')
  const [token, ...otherTokens] = parameters.getAll('bytedToken')
  if (!code || otherCodes.length > 0 || otherTokens.length > 0) return undefined
  return { token, isGood: code === '10000' }
}

/** Whether a browser fetches what its person has not asked for (yet). */
export const isPrefetch = (headers: Headers): boolean =>
  ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /prefetch|prerender|preview/i.test(headers.get(name) ?? ''),
  )

/**
 * Takes the word of a person's browser, once. What has a wrong state, a wrong token, or is no such word, changes nothing, and is told nothing: `unknown`.
 *
 * `resolve` is called for a task whose result can be had now; what it brings is waited for.
 */
export const takeCallback = async (
  { store, clock }: Pick<FaceContext, 'store' | 'clock'>,
  state: string,
  parameters: URLSearchParams,
  resolve: (task: Verification) => Promise<void>,
): Promise<PageOutcome> => {
  if (!isState(state)) return 'unknown'
  const hash = hashState(state)
  const task = await fromStore(store.verificationByState(hash))
  const word = readCallbackResult(parameters)
  if (!task || !word || (word.token !== undefined && task.token !== undefined && !isSame(word.token, task.token))) {
    return 'unknown'
  }
  const way = statusPathTo(task.status, word.isGood ? 'callback_received' : 'failed')
  if (task.status === 'waiting_user' && way) {
    const moved = await fromStore(store.moveVerification(task.id, way, { dueAt: clock.now() }))
    if (moved && word.isGood) await resolve(task)
  }
  return outcomeOf(await fromStore(store.verificationByState(hash)))
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

/** Hashes first: neither length nor content shows in the time that it takes. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
