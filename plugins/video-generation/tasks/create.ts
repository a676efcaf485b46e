import { accessDenied } from '../../shared/audit.ts'
import { delay } from '../../shared/background/delay.ts'
import { permitsModel } from '../../shared/identity/models.ts'
import { composeArray, type Json, textInTurns, toJson } from '../../shared/json/json.ts'
import { type AssetOwnershipOptions, requireOwnAssets } from '../../shared/media/asset-ownership.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { VideoServiceOptions } from '../options.ts'
import type { ClaimedVideoTask, VideoAddition } from '../queue/queue.ts'
import { settleClaims, unknownOutcomeCode } from '../queue/settle.ts'
import { submit, type VideoContext } from '../queue/submit.ts'
import { rejectParameter, unknownModel, VideoProblem } from './problem.ts'
import type { TaskFields } from './request/fields.ts'
import { ownNames, readVideoRequest, type VideoRequest } from './request/request.ts'
import { type ReserveTaskOptions, reserveTask } from './reserved-usage.ts'
import type { VideoTask } from './task.ts'
import { isTaskId, newTaskId, taskIdOf } from './task-id.ts'
import type { CreateVideoOptions, VideoCaller } from './tasks.ts'

export interface CreateContext extends VideoContext, AssetOwnershipOptions, ReserveTaskOptions {
  /** Milliseconds for which a caller without a queue waits until a lost answer is settled. */
  readonly settleWaitMs: number
  readonly checkCallbackUrl: VideoServiceOptions['checkCallbackUrl']
}

/**
 * Creates a task from a native request: checks what it refers to, stores it, and sends it to the upstream when it is
 * its turn.
 *
 * Throws VideoProblem for an invalid request, and the upstream's error when it rejects the task at once.
 */
export const createTask = async (
  caller: VideoCaller,
  body: Json,
  request: Request,
  options: CreateVideoOptions,
  context: CreateContext,
): Promise<VideoTask> => {
  const { store, limitsOf, clock, leaseMs } = context
  const { user, token, models } = caller
  const read = readVideoRequest(body)
  if (!permitsModel(models, read.model)) throw unknownModel(read.model)
  await requireOwnAssets(body, user, request, context)
  if (read.own.callback_url !== undefined) await checkCallbackUrl(read.own.callback_url, context)
  const draft = await ownDraft(user, read.draft, context)
  const sent = withDraft(body, draft?.upstreamId, read.draft?.index).without((key) => own.has(key))
  const { model, serviceTier } = read
  const limits = serviceTier === 'flex' ? undefined : limitsOf(model)
  const notes = options.notes ?? (read.prompt !== undefined && { prompt: read.prompt })
  const fields: TaskFields = {
    own: read.own,
    shown: { ...read.shown, ...(draft && { draft_task_id: draft.id }) },
    ...(draft && { draftUpstreamId: draft.upstreamId }),
    ...(notes && { notes }),
  }
  const now = clock.now()
  const { attempt } = options
  if (attempt && now >= attempt.leaseUntil) throw tookTooLong()
  const task = {
    ...{
      id: attempt ? taskIdOf(attempt) : newTaskId(now),
      user,
      model,
      serviceTier,
      createdAt: now,
      expiresAt: now + read.expiresAfter * 1000,
    },
    ...(token !== undefined && { token }),
    fields: JSON.stringify(fields),
    // Without a queue no task is submitted twice.
    request: limits ? await textInTurns(sent) : '',
  }
  const reserved = await reserveTask(task, sent, request.signal, context)
  let added: VideoAddition
  try {
    const { holds } = reserved
    added = await storeCall(store.addVideoTask({ ...task, holds }, limits, now + leaseMs), 'failed to record the task')
    if (added.outcome === 'waiting-full') throw tooManyWaiting
    reserved.added()
  } finally {
    reserved.release()
  }
  if (added.outcome === 'claimed') return submitNow(added.task, sent, request, context)
  return { ...task, phase: 'waiting', status: 'queued', leaseUntil: 0, attempts: 0 }
}

/** Throws VideoProblem 400 for an address to which the gateway sends nothing. */
const checkCallbackUrl = async (url: string, { checkCallbackUrl: check }: CreateContext): Promise<void> => {
  if (!check) return rejectParameter('callback_url', 'is not supported by this gateway')
  try {
    await check(url)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new VideoProblem(error.status, error.message, { param: 'callback_url', cause: error.cause })
  }
}

const own: ReadonlySet<string> = new Set(ownNames)

const tooManyWaiting = new VideoProblem(429, 'you have the maximum number of waiting tasks', {
  code: 'QuotaExceeded',
  headers: { 'retry-after': '30' },
})

const tookTooLong = () => new VideoProblem(503, 'the request took too long', { headers: { 'retry-after': '1' } })

/** Submits a task in the request that creates it. */
const submitNow = async (
  claim: ClaimedVideoTask,
  sent: Json,
  request: Request,
  context: CreateContext,
): Promise<VideoTask> => {
  const result = await submit(claim, context, { request: sent, headers: request.headers })
  if (result.outcome === 'rejected') {
    await context.store.dropVideoTask(claim)
    throw result.problem
  }
  if (result.outcome === 'unknown') {
    context.log.warn({ task: claim.id, err: result.cause }, 'the answer to a create call was lost')
    if (claim.request === '') await waitForOutcome(claim, context)
    // With a queue the task goes on by itself. One look may free its slot at once, and makes the work in the background
    // look again.
    else await settleClaims([claim], context).catch((err: unknown) => logFailedSearch(claim, context, err))
  }
  return claim
}

const logFailedSearch = ({ id }: ClaimedVideoTask, { log }: CreateContext, err: unknown): void =>
  log.warn({ task: id, err }, 'could not look for the task of a lost answer')

/** Longest pause between two searches for the task of a lost answer. */
const maxSearchMs = 2_000

/** Waits until a lost answer is settled. Throws Problem 503 if that takes too long. */
const waitForOutcome = async (claim: ClaimedVideoTask, context: CreateContext): Promise<void> => {
  const { clock, settleWaitMs } = context
  const end = clock.now() + settleWaitMs
  for (let pause = 100; clock.now() < end; pause = Math.min(2 * pause, maxSearchMs)) {
    await delay(pause, never)
    const settled = await settleClaims([claim], context).catch((err: unknown) => {
      logFailedSearch(claim, context, err)
      return undefined
    })
    if (settled?.get(claim.id) === 'submitted') return
  }
  throw new VideoProblem(
    503,
    'it is not known yet whether the upstream has created the task; your list of tasks will show it',
    {
      code: unknownOutcomeCode,
      headers: { 'retry-after': '120' },
    },
  )
}

const never = new AbortController().signal

/** The caller's own draft. Throws Problem 400 for any other: the same for a foreign one and one that does not exist. */
const ownDraft = async (
  user: string,
  draft: VideoRequest['draft'],
  { store }: VideoContext,
): Promise<{ readonly id: string; readonly upstreamId: string } | undefined> => {
  if (!draft) return undefined
  const { id } = draft
  const task = isTaskId(id) ? await storeCall(store.videoTask(user, id), 'failed to check the draft task') : undefined
  if (task?.status === 'succeeded' && task.upstreamId !== undefined) return { id, upstreamId: task.upstreamId }
  throw unusableDraft(draft.index, task ? undefined : accessDenied('video', id.slice(0, 64)))
}

const unusableDraft = (index: number, event: Problem['event']): VideoProblem =>
  new VideoProblem(400, `content[${index}].draft_task.id is not one of your succeeded draft tasks`, {
    param: `content[${index}].draft_task.id`,
    ...(event && { event }),
  })

/** The request with the upstream's id of the draft. */
const withDraft = (body: Json, upstreamId: string | undefined, index = 0): Json => {
  const content = body.get('content')
  if (upstreamId === undefined || !content) return body
  const items = content.elements()
  const changed = items[index]?.edit([['draft_task', toJson({ id: upstreamId })]])
  return body.with('content', composeArray(items.map((item, at) => (at === index && changed ? changed : item))))
}
