import { createHmac } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import {
  composeInTurns,
  composeJson,
  type Json,
  type MemberChange,
  readJsonInTurns,
  toJson,
} from '../../shared/json/json.ts'
import type { AssetOwners, PlacedAssets } from '../../shared/media/asset-ownership.ts'
import { assetsInTurns } from '../../shared/media/media-fields.ts'
import type { PictureAssets } from '../../shared/media/picture-assets.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import type { PoolLimits } from '../store/pool.ts'
import type { ClaimedVideoTask, VideoQueue } from '../store/queue.ts'
import { unlimitedSlots } from '../store/slots.ts'
import { consentWithdrawn, shareEnded, tooManyWaiting, VideoProblem, videoUnavailable } from '../tasks/problem.ts'
import { readTaskFields, type TaskFields } from '../tasks/request/fields.ts'
import type { VideoTask } from '../tasks/task.ts'
import type { VideoAccounts } from '../upstream/accounts.ts'
import type { VideoClient } from '../upstream/client.ts'
import { withPlacedAssets } from './place-assets.ts'
import { registrationAfter, withAssets } from './refused-pictures.ts'
import { errorOf, isUnknown, signalOf, withOwnIds } from './rejection.ts'

/** What the parts of the plugin share. */
export interface VideoContext {
  readonly store: VideoQueue
  /** The client of the account at hand: see `onAccountOf`. */
  readonly client: VideoClient
  readonly accounts: VideoAccounts
  /** The slots of a model or endpoint. Undefined: there is no queue for it. */
  readonly limitsOf: (model: string) => PoolLimits | undefined
  /** Keys the identifiers of users. It must never change. */
  readonly identifierSecret: string
  /** The address for callbacks about a task. Undefined: the upstream is not asked for callbacks. */
  readonly callbackUrlOf: (id: string) => string | undefined
  /** Says whether assets of other users are still lent. Undefined: there is no asset library. */
  readonly assets?: AssetOwners | undefined
  /** Makes assets of pictures, for tasks with `references: "auto"`. Undefined: there are no such tasks. */
  readonly pictures?: PictureAssets | undefined
  /** Highest `priority` that reaches the upstream. */
  readonly maxPriority: number
  /** Milliseconds between two polls of a task. */
  readonly pollMs: number
  /** Milliseconds after which a task that the upstream shows as running needs a decision. */
  readonly maxRunningMs: number
  /** Time limit of a create call, in milliseconds. */
  readonly createTimeoutMs: number
  /** Milliseconds for which a claim belongs to the process that has made it: longer than a create call can take. */
  readonly leaseMs: number
  /** Milliseconds after the end of a lease at which a task that no list contains counts as not created. */
  readonly settleMs: number
  readonly clock: Clock
  readonly log: Log
}

/**
 * What became of a create call.
 *
 * - `submitted`: the upstream has the task.
 * - `waiting`: it does not, and the task waits for its next turn.
 * - `suspended`: it does not, and the task waits until pictures of it are assets, or assets of it are at the upstream.
 * - `rejected`: it does not. The claim is still open.
 * - `unknown`: the answer was lost. The claim is still open.
 */
export type Submission =
  | { readonly outcome: 'submitted' | 'waiting' | 'suspended' }
  | { readonly outcome: 'rejected'; readonly problem: Problem }
  | { readonly outcome: 'unknown'; readonly cause: unknown }

/** The context with the client of a task's account. */
export const onAccountOf = <Context extends VideoContext>(task: Pick<VideoTask, 'fields'>, context: Context): Context =>
  onAccount(context.accounts.of(task), context)

/** The context with the client of an account. */
export const onAccount = <Context extends VideoContext>(account: string | undefined, context: Context): Context => ({
  ...context,
  client: context.accounts.clientOf(account),
})

/** A stable pseudonym of a user for the upstream: 64 hexadecimal digits, from which nobody can tell the user. */
export const safetyIdentifierOf = (secret: string, user: string): string =>
  createHmac('sha256', secret).update(`safety identifier ${user}`).digest('hex')

/**
 * Sends the create call of a claim.
 *
 * Whether the lent assets of the task, and those of persons, may be used is decided at last, by a record of their use
 * that is committed before the call. A revocation, or a withdrawal of a consent, that has been committed before it ends
 * the task. Rejects when the store fails: the claim is then settled like one whose answer was lost, and nothing was
 * sent.
 *
 * @param request the body, if it is at hand. Default: that of the claim
 */
export const submit = async (
  claim: ClaimedVideoTask,
  context: VideoContext,
  { request, headers }: { readonly request?: Json; readonly headers?: Headers } = {},
): Promise<Submission> => {
  const { store, accounts, clock, pollMs } = context
  let fields: TaskFields
  let given: Json
  try {
    fields = readTaskFields(claim.fields)
    given = request ?? (await readJsonInTurns(await composeInTurns(composeJson([claim.request]))))
  } catch (cause) {
    // Else its user would claim it again and again, and nothing else would get the slot.
    return { outcome: 'rejected', problem: new Problem(500, 'the request of the task cannot be read', { cause }) }
  }
  const placed = context.assets?.place ? await placeAssets(claim, fields, given, context) : noneToPlace
  if ('outcome' in placed) return placed
  const body = await composeInTurns(requestToSend(given, claim, fields, placed.assets, context))
  const { lentGroups = [], persons = [] } = fields
  if (lentGroups.length > 0 && !(await context.assets?.recordUse?.(claim.user, lentGroups)))
    return { outcome: 'rejected', problem: shareEnded }
  const use = { task: claim.id, user: claim.user, assets: persons }
  if (persons.length > 0 && (await context.assets?.recordPersonUse?.(use)) === false)
    return { outcome: 'rejected', problem: consentWithdrawn }
  if (clock.now() > claim.leaseUntil - context.createTimeoutMs) return giveBack(claim, context)
  let upstreamId: string
  try {
    upstreamId = await accounts.clientOf(accounts.of(claim)).create(body, headers)
  } catch (error) {
    return failed(error, { claim, fields, request: given, placed: placed.assets }, context)
  }
  const now = clock.now()
  try {
    const confirmed = await store.confirmVideoTask(claim, upstreamId, now, now + pollMs)
    if (confirmed) return { outcome: 'submitted' }
  } catch (cause) {
    // The upstream has the task: the claim is settled like one whose answer was lost.
    return { outcome: 'unknown', cause }
  }
  return claimEnded()
}

const noneToPlace = { assets: new Map<string, string>() }

/** Gets the assets of a claim to the upstream, or puts the task aside until they are there. */
const placeAssets = async (
  claim: ClaimedVideoTask,
  fields: TaskFields,
  given: Json,
  context: VideoContext,
): Promise<Submission | { readonly assets: PlacedAssets }> => {
  const { registration } = fields
  const references = await assetsInTurns(registration ? withAssets(given, registration) : given)
  const awaited = references.map(({ id }) => id)
  try {
    const placed = awaited.length === 0 ? noneToPlace.assets : await context.assets?.place?.(awaited, claim.id)
    if (placed) return { assets: placed }
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    const { code, message } = errorOf(error)
    return { outcome: 'rejected', problem: new VideoProblem(error.status, message, { param: 'content', code }) }
  }
  return suspend(claim, { ...fields, awaited }, context)
}

/** Puts a task aside, which gives its slot back. */
const suspend = async (
  claim: ClaimedVideoTask,
  fields: TaskFields,
  { store, clock, limitsOf }: VideoContext,
): Promise<Submission> => {
  const limits = limitsOf(claim.model) ?? unlimitedSlots
  const now = clock.now()
  const suspended = await store.suspendVideoTask(claim, { fields: JSON.stringify(fields), dueAt: now, limits }, now)
  if (suspended === 'full') return { outcome: 'rejected', problem: tooManyWaiting }
  return suspended === 'suspended' ? { outcome: 'suspended' } : claimEnded()
}

/** Another process has settled the claim in the meantime. */
const claimEnded = (): Submission => ({ outcome: 'unknown', cause: new Error('the claim has ended') })

/**
 * The process was suspended since it made the claim. Its call would not end with the lease: another process may then
 * find that the upstream has no such task and submit it too.
 */
const giveBack = async (claim: ClaimedVideoTask, { store, clock }: VideoContext): Promise<Submission> => {
  if (await store.releaseVideoTask(claim, clock.now(), undefined)) return { outcome: 'waiting' }
  return { outcome: 'rejected', problem: videoUnavailable(new Error('the claim is about to end'), false) }
}

/** The request with the values of the gateway in the fields that it owns. */
const requestToSend = (
  request: Json,
  claim: ClaimedVideoTask,
  { own, registration }: TaskFields,
  placed: PlacedAssets,
  context: VideoContext,
): Json => {
  const priority = Math.min(own.priority ?? 0, context.maxPriority)
  const callback = context.callbackUrlOf(claim.id)
  const changes: MemberChange[] = [
    ['safety_identifier', toJson(safetyIdentifierOf(context.identifierSecret, claim.user))],
    ['execution_expires_after', toJson(claim.nonce)],
    ['callback_url', callback === undefined ? undefined : toJson(callback)],
    // Some models have no priorities, so the vendor's default is not sent.
    ['priority', priority === 0 ? undefined : toJson(priority)],
  ]
  return withPlacedAssets(registration ? withAssets(request, registration) : request, placed).edit(changes)
}

interface FailedCall {
  readonly claim: ClaimedVideoTask
  readonly fields: TaskFields
  readonly request: Json
  /** The ids that the call had. */
  readonly placed: PlacedAssets
}

const failed = async (
  error: unknown,
  { claim, fields, request, placed }: FailedCall,
  context: VideoContext,
): Promise<Submission> => {
  const problem = error instanceof UpstreamRejectedError ? withOwnIds(error, fields, placed) : error
  if (!(problem instanceof Problem) || isUnknown(problem)) return { outcome: 'unknown', cause: error }
  // Only a task that came through the queue keeps its request in the store.
  const signal = claim.request === '' ? undefined : signalOf(problem, context.clock.now())
  if (!signal) return rejected(problem, { claim, fields, request, placed }, context)
  await context.store.releaseVideoTask(claim, context.clock.now(), signal)
  return { outcome: 'waiting' }
}

/** A rejection that is about the request: final, unless pictures of it become assets. */
const rejected = async (
  problem: Problem,
  { claim, fields, request, placed }: FailedCall,
  context: VideoContext,
): Promise<Submission> => {
  const { registration } = fields
  const { pictures, clock } = context
  const next =
    pictures && registration && problem instanceof UpstreamRejectedError
      ? registrationAfter(problem, request, registration, pictures, clock.now())
      : undefined
  if (!next) return { outcome: 'rejected', problem }
  // Without the pictures, of which each look finds the asset.
  const named = [...placed.keys()].filter((id) => !next.pictures.some(({ asset }) => asset === id))
  return suspend(claim, { ...fields, registration: next, ...(named.length > 0 && { awaited: named }) }, context)
}
