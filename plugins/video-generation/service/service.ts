import { randomBytes } from 'node:crypto'
import { adviceFor } from '../../failure-advice/index.ts'
import { noAudit } from '../../shared/audit.ts'
import { backgroundOf } from '../../shared/background/background.ts'
import { systemClock } from '../../shared/clock.ts'
import { publicBase } from '../../shared/http/origin.ts'
import { checkUser } from '../../shared/identity/identify.ts'
import { type Json, toJson } from '../../shared/json/json.ts'
import type { AssetUses } from '../../shared/media/asset-uses.ts'
import { isVideoTaskId } from '../../shared/media/video-task-id.ts'
import { checkAbove0 } from '../../shared/plugin/options.ts'
import { type Log, noLog } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { type Poller, startPoller } from '../queue/poller.ts'
import { startCopier } from '../results/copy.ts'
import { linksTo } from '../results/results.ts'
import { shownPlace } from '../store/place.ts'
import type { PoolLimits } from '../store/pool.ts'
import { queueOn } from '../store/rows/queue.ts'
import { unknownTask } from '../tasks/problem.ts'
import { readTaskFields } from '../tasks/request/fields.ts'
import type { DescribeVideoTask, VideoTask } from '../tasks/task.ts'
import { createTaskIds } from '../tasks/task-id.ts'
import type { QueuePlace, VideoTaskFilter, VideoTaskPage, VideoTasks } from '../tasks/tasks.ts'
import { type LinkResult, viewOf } from '../tasks/view.ts'
import { createVideoAccounts, oneVideoAccount } from '../upstream/accounts.ts'
import { createVideoClient, unconfigured } from '../upstream/client.ts'
import { callbackKey, callbackPath, isCallbackKey } from './callback.ts'
import { checkServiceOptions, hasQueue } from './check-options.ts'
import { createTask } from './create.ts'
import { type CreateVideoOnce, createVideoOnce } from './create-once.ts'
import { estimateTask } from './estimate.ts'
import type { VideoServiceOptions } from './options.ts'
import { removeTask } from './remove.ts'
import { assetUsesOf } from './uses.ts'

/** The tasks of all users, for one plugin or several. */
export interface VideoService {
  /** Whether it has an upstream. Without one, every route responds with 502. */
  readonly hasUpstream: boolean
  readonly tasks: VideoTasks
  /**
   * Responds to a request that creates a task: with `respond(view)` of the task that `create` has created, or of the
   * one that an earlier request with the same `Idempotency-Key` has created. Pass the attempt on to `tasks.create`.
   */
  readonly once: CreateVideoOnce
  /** Which assets the tasks use, for `assetLibrary`. Undefined: the store does not keep it. */
  readonly uses: AssetUses | undefined
  /** A callback about a task has arrived. Resolves with whether its key is right. */
  receiveCallback(id: string, key: string): Promise<boolean>
}

/**
 * Creates the service behind the routes of video generation, with its work in the background. Pass it to every plugin
 * that serves the same tasks.
 *
 * Throws TypeError for a wrong address or key of the upstream, for a store that is missing, for limits of usage with a
 * `VideoTaskStore`, and for a number that is not above 0.
 *
 * @example
 * const service = createVideoService({ upstream, store, background: true })
 * new Elysia().use(videoGeneration({ service, identify })).use(openaiVideos({ service, identify }))
 */
export const createVideoService = (options: VideoServiceOptions): VideoService => {
  const { upstream, assets, results, audit = noAudit } = options
  const { clock = systemClock, log = noLog, pollMs = 3_000, settleMs = 60_000, settleWaitMs = 5_000 } = options
  const { createTimeoutMs = 60_000, maxPriority = 0, keepMs = 90 * 86_400_000, maxRunningMs = 10_800_000 } = options
  checkServiceOptions(options)
  checkAbove0({ keepMs, pollMs, maxRunningMs, settleMs, settleWaitMs, createTimeoutMs })
  const store = hasQueue(options.store) ? options.store : queueOn(options.store)
  const linkResult = results && linksTo(results)
  const secret = options.identifierSecret ?? randomBytes(32).toString('hex')
  const prefix = options.prefix ?? '/api/v3'
  const accounts = options.accounts
    ? createVideoAccounts(options.accounts, { ...options, log })
    : oneVideoAccount(upstream ? createVideoClient({ ...options, upstream, log }) : unconfigured)
  const upstreams = options.accounts
    ? options.accounts.flatMap((account) => account.upstream ?? [])
    : [upstream ?? []].flat()
  const context = {
    ...{ store, assets, pollMs, maxRunningMs, settleMs, settleWaitMs, maxPriority, clock, log },
    ...{ client: unconfigured, accounts },
    pictures: options.pictures,
    presetAssets: new Set(options.presetAssets),
    limitsOf: createLimitsOf(options.slots),
    identifierSecret: secret,
    newTaskId: createTaskIds(),
    callbackUrlOf: (id: string) => {
      const base = options.publicUrl?.()
      return base === undefined
        ? undefined
        : `${publicBase(base)}${prefix}${callbackPath}/${id}/${callbackKey(secret, id)}`
    },
    createTimeoutMs,
    leaseMs: leasesPerTimeout * createTimeoutMs,
    checkCallbackUrl: options.checkCallbackUrl,
    copies: results !== undefined,
    costOf: options.costOf,
    usageLimits: options.usageLimits,
    results,
  }
  store.describeVideoEvents?.(createDescribe(linkResult, log))
  let poller: Poller | undefined
  const background = backgroundOf(options.background)
  if (background && upstreams.length > 0) {
    const allowsHttp = upstreams.some(({ url }) => url.startsWith('http:'))
    const copier =
      results && startCopier({ ...context, results, allowsHttp, minPauseMs: options.copyPauseMs }, background)
    const observe = { end: options.observeEnd, counts: options.observeCounts }
    poller = startPoller({ context, leases: store, background, keepMs, observe, onCopying: () => copier?.wake() })
  }

  const placeOf = async (task: VideoTask): Promise<QueuePlace | undefined> => {
    const limits = task.phase === 'waiting' ? context.limitsOf(task.model) : undefined
    const place = limits && (await storeCall(store.videoQueuePlace(task, limits, clock.now()), readFailed))
    return place && shownPlace(place)
  }

  const tasks: VideoTasks = {
    async create(caller, body, request, createOptions = {}) {
      checkUser(caller.user)
      const task = await createTask(caller, body, request, createOptions, context)
      if (task.phase === 'waiting') poller?.wake()
      // The task exists: its caller must learn its id, also without its place.
      const place = await placeOf(task).catch((err: unknown) => {
        log.warn({ task: task.id, err }, 'the place of a task in the queue could not be read')
        return undefined
      })
      return viewOf(task, linkResult, place)
    },

    async estimate(caller, body, request, { persons } = {}) {
      checkUser(caller.user)
      return estimateTask(caller, body, request, context, persons)
    },

    async find(user, id) {
      checkUser(user)
      const task = isVideoTaskId(id) ? await storeCall(store.videoTask(user, id), readFailed) : undefined
      if (!task) throw unknownTask(isVideoTaskId(id) ? id : undefined)
      return viewOf(task, linkResult, task.phase === 'waiting' ? await placeOf(task) : undefined)
    },

    async list(user, filter, page) {
      checkUser(user)
      checkPage(page)
      const wanted = withKnownIds(filter)
      if (!wanted) return { tasks: [], total: 0 }
      const found = await storeCall(store.videoTasks(user, wanted, page), readFailed)
      return { tasks: found.tasks.map((task) => viewOf(task, linkResult)), total: found.total }
    },

    async remove(user, id, mode) {
      checkUser(user)
      if (mode !== undefined && mode !== 'cancel' && mode !== 'delete')
        throw new TypeError('mode must be cancel or delete')
      if (!isVideoTaskId(id)) throw unknownTask()
      const done = await removeTask(user, id, mode, context)
      poller?.wake()
      audit.note({ action: done === 'deleted' ? 'video.delete' : 'video.cancel', user, target: { kind: 'video', id } })
      return done
    },
  }

  return {
    hasUpstream: upstreams.length > 0,
    tasks,
    uses:
      store.videoAssetUses &&
      assetUsesOf(store.videoAssetUses, linkResult, async (user, id) => {
        await removeTask(user, id, 'delete', context)
        // Not as the user of the task, who did not ask for it.
        audit.note({ action: 'video.delete', target: { kind: 'video', id }, reason: 'a consent was withdrawn' })
      }),
    once: createVideoOnce(options.idempotency, context, (task) => viewOf(task, linkResult)),
    async receiveCallback(id, key) {
      if (!isVideoTaskId(id) || !isCallbackKey(secret, id, key)) return false
      const hinted = await storeCall(store.hintVideoTask(id, clock.now()), readFailed)
      if (hinted) poller?.wakeSoon()
      return true
    },
  }
}

/**
 * What a user is told about a new state of a task. It never throws: the store describes many tasks in one transaction.
 */
const createDescribe =
  (linkResult: LinkResult | undefined, log: Log): DescribeVideoTask =>
  (task, isDeleted = false) => {
    const type = isDeleted ? 'video.deleted' : (`video.${task.status}` as const)
    try {
      const { body } = viewOf(task, linkResult)
      const { callback_url: url } = readTaskFields(task.fields).own
      const callback = url !== undefined && !isDeleted && { callback: { url, body: body.raw } }
      return { type, data: withAdvice(body).raw, ...callback }
    } catch (err) {
      log.warn({ task: task.id, err }, 'a task could not be described for its user')
      return { type, data: JSON.stringify({ id: task.id, status: task.status }) }
    }
  }

/** The object of a failed task with what to do about the code of its error. A callback has the vendor's form alone. */
const withAdvice = (task: Json): Json => {
  const error = task.get('error')
  const code = error?.get('code')?.string()
  const advice = code === undefined ? undefined : adviceFor(code, error?.get('message')?.string())
  return error && advice ? task.with('error', error.with('advice', toJson(advice))) : task
}

/** Throws TypeError for a page that a database would read as all tasks, or that takes too much memory. */
const checkPage = (page: VideoTaskPage): void => {
  const { limit } = page
  const offset = 'offset' in page ? page.offset : 0
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= maxPageSize))
    throw new TypeError(`limit must be an integer from 1 to ${maxPageSize}`)
  if (!(Number.isSafeInteger(offset) && offset >= 0)) throw new TypeError('offset must be an integer from 0')
}

const maxPageSize = 1_000

const readFailed = 'failed to read the video tasks'

/** A claim lasts longer than its create call: the store needs time too. */
const leasesPerTimeout = 1.5

/** The filter without texts that are no ids. Undefined: nothing matches. */
const withKnownIds = (filter: VideoTaskFilter): VideoTaskFilter | undefined => {
  const ids = filter.ids?.filter(isVideoTaskId)
  return ids?.length === 0 ? undefined : { ...filter, ids }
}

/** The slots of a model or endpoint: its own, or those of `*`, which each other name has for itself. */
const createLimitsOf =
  (slots: VideoServiceOptions['slots']) =>
  (model: string): PoolLimits | undefined =>
    slots && ((Object.hasOwn(slots, model) ? slots[model] : undefined) ?? slots['*'])
