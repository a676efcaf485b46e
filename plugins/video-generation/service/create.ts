import { delay } from '../../shared/background/delay.ts'
import { within } from '../../shared/background/within.ts'
import { type Json, textInTurns } from '../../shared/json/json.ts'
import { storeCall } from '../../shared/store-call.ts'
import { settleClaims, unknownOutcomeCode } from '../queue/settle.ts'
import { submit, type VideoContext } from '../queue/submit.ts'
import type { ClaimedVideoTask, VideoAddition } from '../store/queue.ts'
import { tooManyWaiting, VideoProblem } from '../tasks/problem.ts'
import type { TaskFields } from '../tasks/request/fields.ts'
import type { VideoTask } from '../tasks/task.ts'
import { taskIdOf } from '../tasks/task-id.ts'
import type { CreateVideoOptions, VideoCaller } from '../tasks/tasks.ts'
import { newTaskOf, type PrepareContext, prepareTask } from './prepare.ts'
import { type ReserveTaskOptions, reserveTask } from './reserved-usage.ts'

export interface CreateContext extends VideoContext, PrepareContext, ReserveTaskOptions {
  /** Milliseconds for which a caller without a queue waits until a lost answer is settled. */
  readonly settleWaitMs: number
  /** See `createTaskIds`. */
  newTaskId(now: number): string
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
  const { store, clock, leaseMs } = context
  const prepared = await prepareTask(caller, body, request, context, options.persons)
  const { read, draft, assets, lentGroups, persons, sent, limits, account } = prepared
  const notes = options.notes ?? (read.prompt !== undefined && { prompt: read.prompt })
  const fields: TaskFields = {
    own: read.own,
    shown: { ...read.shown, ...(draft && { draft_task_id: draft.id }) },
    ...(draft && { draftUpstreamId: draft.upstreamId }),
    ...(account !== undefined && { account }),
    ...(lentGroups.length > 0 && { lentGroups }),
    ...(persons.length > 0 && { persons }),
    ...(notes && { notes }),
    ...(read.registersPictures && { registration: { pictures: [] } }),
  }
  const now = clock.now()
  const pool = context.accounts.poolOf(account, read.model)
  const { attempt } = options
  if (attempt && now >= attempt.leaseUntil) throw tookTooLong()
  const task = {
    ...newTaskOf(caller, read, attempt ? taskIdOf(attempt) : context.newTaskId(now), now),
    ...(pool !== undefined && { pool }),
    fields: JSON.stringify(fields),
    // Without a queue no task is submitted twice, except with `references: "auto"`.
    request: limits ? await textInTurns(sent) : '',
    ...(assets.length > 0 && { assets }),
  }
  const reserved = await reserveTask({ ...task, modelAlias: caller.modelAlias }, sent, request.signal, context)
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
  if (result.outcome === 'suspended') return { ...claim, phase: 'waiting' }
  if (result.outcome === 'unknown') {
    context.log.warn({ task: claim.id, err: result.cause }, 'the answer to a create call was lost')
    if (claim.request === '') await waitForOutcome(claim, context)
    // With a queue the task goes on by itself. One look may free its slot at once, and makes the work in the background
    // look again.
    else await search(claim, context, context.clock.now() + context.settleWaitMs)
  }
  return claim
}

/**
 * Looks for the task of a lost answer. Resolves with what was found until `end`: an upstream that does not respond
 * holds the search for longer, which then goes on without the caller.
 */
const search = async (claim: ClaimedVideoTask, context: CreateContext, end: number) => {
  const { clock, log } = context
  const searching = settleClaims([claim], context).catch((err: unknown) => {
    log.warn({ task: claim.id, err }, 'could not look for the task of a lost answer')
    return undefined
  })
  return within(searching, Math.max(0, end - clock.now()))
}

/** Longest pause between two searches for the task of a lost answer. */
const maxSearchMs = 2_000

/** Waits until a lost answer is settled. Throws Problem 503 if that takes too long. */
const waitForOutcome = async (claim: ClaimedVideoTask, context: CreateContext): Promise<void> => {
  const { clock, settleWaitMs } = context
  const end = clock.now() + settleWaitMs
  for (let pause = 100; clock.now() < end; pause = Math.min(2 * pause, maxSearchMs)) {
    await delay(pause, never)
    const settled = await search(claim, context, end)
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
