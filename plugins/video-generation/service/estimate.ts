import type { Json } from '../../shared/json/json.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { LimitReport } from '../../usage-limits/index.ts'
import { placeOfNext, shownPlace } from '../store/place.ts'
import type { PoolLimits } from '../store/pool.ts'
import { tooManyWaiting } from '../tasks/problem.ts'
import { startOf, violationsOf } from '../tasks/request/model-rules.ts'
import type { NeededLimit, TaskEstimate, TaskReference } from '../tasks/task-estimate.ts'
import type { CreateVideoOptions, QueuePlace, VideoCaller } from '../tasks/tasks.ts'
import type { CreateContext } from './create.ts'
import { newTaskOf, type PreparedTask, prepareTask } from './prepare.ts'
import { checkRoom, type ExpectedUsage, expectedUsage, usesOf } from './reserved-usage.ts'

/**
 * What `createTask` would do with a request: the same checks and errors, but nothing is created, and the video upstream
 * is not called.
 *
 * The upstream may still refuse the task: it reads the files, moderates them, and has rules of its own.
 */
export const estimateTask = async (
  caller: VideoCaller,
  body: Json,
  request: Request,
  context: CreateContext,
  persons?: CreateVideoOptions['persons'],
): Promise<TaskEstimate> => {
  const { clock, usageLimits } = context
  const { user, token, modelAlias } = caller
  const prepared = await prepareTask(caller, body, request, context, persons)
  const { read, sent, limits, account } = prepared
  const { model } = read
  const now = clock.now()
  const task = { ...newTaskOf(caller, read, context.newTaskId(now), now), fields: '', request: '' }
  const usage = expectedUsage(task, sent, context)
  const pool = context.accounts.poolOf(account, model) ?? model
  const queue = limits ? await placeOf(user, pool, limits, context) : undefined
  await checkRoom({ ...task, modelAlias }, usage, request.signal, context)
  const reports = usageLimits ? await storeCall(usageLimits.report({ user, token }), 'limits could not be loaded') : []
  const { completionTokens, seconds, exact, cost } = usage
  return {
    dry_run: true,
    model,
    usage: { completion_tokens: completionTokens, seconds, exact },
    cost: cost === undefined ? null : cost / 1e9,
    limits: neededOf(reports, usage, modelAlias === undefined ? [model] : [modelAlias, model]),
    references: referencesOf(body, prepared),
    violations: violationsOf(sent, model),
    queue: queue ? { position: queue.position, seconds: queue.seconds ?? null } : null,
  }
}

/** The place of one more task of a user. Undefined: a slot is free. Throws Problem 429 where no more may wait. */
const placeOf = async (
  user: string,
  pool: string,
  limits: PoolLimits,
  { store, clock }: Pick<CreateContext, 'store' | 'clock'>,
): Promise<QueuePlace | undefined> => {
  const line = await storeCall(store.videoQueueLine(pool, clock.now()), 'failed to read the queue')
  const place = placeOfNext(user, line, limits)
  if (!place) return undefined
  const waiting = line.users.find((each) => each.user === user)?.waiting ?? 0
  if (waiting >= (limits.waitingPerUser ?? Number.POSITIVE_INFINITY)) throw tooManyWaiting
  return shownPlace(place)
}

const neededOf = (
  reports: readonly LimitReport[],
  usage: ExpectedUsage,
  models: readonly string[],
): readonly NeededLimit[] => {
  const uses = { ...usesOf(usage), running_videos: 1 }
  return reports.flatMap((report) => {
    const needed = uses[report.unit as keyof typeof uses]
    if (needed === undefined || !models.some((model) => appliesTo(report.model, model))) return []
    return { ...report, needed: report.unit === 'cost' ? needed / 1e9 : needed }
  })
}

/** A limit names a model, or the start of its name with `*` at its end. */
const appliesTo = (limited: string | null, model: string): boolean =>
  limited === null || (limited.endsWith('*') ? model.startsWith(limited.slice(0, -1)) : model === limited)

const maxReferences = 1_000

const referencesOf = (body: Json, { draft }: PreparedTask): readonly TaskReference[] => {
  const found: TaskReference[] = []
  for (const [index, item] of (body.get('content')?.elements() ?? []).entries()) {
    if (found.length === maxReferences) break
    const param = `content[${index}]`
    if (item.get('draft_task') && draft) found.push({ param, kind: 'draft', id: draft.id })
    for (const name of ['image_url', 'video_url', 'audio_url']) {
      const url = item.get(name)?.get('url')
      if (url?.isString) found.push({ param: `${param}.${name}`, ...kindOf(url) })
    }
  }
  return found
}

/** Longer than the address of any asset. */
const maxAssetBytes = 512

const kindOf = (url: Json): Pick<TaskReference, 'kind' | 'id'> => {
  if (/^"data:/i.test(startOf(url))) return { kind: 'data', id: null }
  const id = url.byteLength <= maxAssetBytes ? url.string()?.match(/^asset:\/\/(.+)$/)?.[1] : undefined
  return id === undefined ? { kind: 'address', id: null } : { kind: 'asset', id }
}
