import { accessDenied } from '../../shared/audit.ts'
import type { PersonAsset } from '../../shared/consent/store.ts'
import { permitsModel } from '../../shared/identity/models.ts'
import { composeArray, type Json, toJson } from '../../shared/json/json.ts'
import { type AssetOwnershipOptions, requireOwnAssets } from '../../shared/media/asset-ownership.ts'
import type { UsedAsset } from '../../shared/media/asset-uses.ts'
import { isVideoTaskId } from '../../shared/media/video-task-id.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { VideoContext } from '../queue/submit.ts'
import type { PoolLimits } from '../store/pool.ts'
import { unlimitedSlots } from '../store/slots.ts'
import { consentWithdrawn, rejectParameter, shareEnded, unknownModel, VideoProblem } from '../tasks/problem.ts'
import { readTaskFields } from '../tasks/request/fields.ts'
import { ownNames, readVideoRequest, type VideoRequest } from '../tasks/request/task-request.ts'
import type { NewVideoTask } from '../tasks/task.ts'
import type { VideoCaller } from '../tasks/tasks.ts'
import { accountFor } from '../upstream/accounts.ts'
import type { VideoServiceOptions } from './options.ts'

/** A request that has been checked, as far as the gateway can check it. */
export interface PreparedTask {
  readonly read: VideoRequest
  /** The caller's draft that the request names. */
  readonly draft: OwnDraft | undefined
  /** The assets that the request names, besides presets. */
  readonly assets: readonly UsedAsset[]
  /** Ids of groups of other users whose assets the task shows, also through its draft. */
  readonly lentGroups: readonly string[]
  /** Assets of persons that the task shows, also through its draft. */
  readonly persons: readonly PersonAsset[]
  /** What the upstream gets, without the fields that the gateway sets. */
  readonly sent: Json
  /** Undefined: the task needs no slot. */
  readonly limits: PoolLimits | undefined
  /** The account that makes the video. Undefined: there is one. */
  readonly account: string | undefined
}

interface OwnDraft {
  readonly id: string
  readonly account: string | undefined
  readonly upstreamId: string
  /** The upstream makes the video of the assets of the draft. */
  readonly lentGroups: readonly string[]
  readonly persons: readonly PersonAsset[]
}

export interface PrepareContext
  extends Pick<VideoContext, 'store' | 'accounts' | 'limitsOf' | 'pictures' | 'clock'>,
    AssetOwnershipOptions {
  readonly checkCallbackUrl: VideoServiceOptions['checkCallbackUrl']
}

/**
 * Checks a native create request and what it refers to. Throws VideoProblem for an invalid request, for a model that
 * the caller may not use, and for what is not the caller's own.
 *
 * @param derived assets of persons that the task shows besides those in the request
 */
export const prepareTask = async (
  caller: VideoCaller,
  body: Json,
  request: Request,
  context: PrepareContext,
  derived: readonly PersonAsset[] = [],
): Promise<PreparedTask> => {
  const { user, models, modelAlias } = caller
  const read = readVideoRequest(body)
  if (read.registersPictures) requireAssetLibrary(caller, context)
  const named = modelAlias ?? read.model
  if (!permitsModel(models, named)) throw unknownModel(named)
  const assets = await requireOwnAssets(body, user, request, context)
  if (assets.length > 0) await context.assets?.requirePlaceable?.(assets.map(({ id }) => id))
  if (read.own.callback_url !== undefined) await checkCallbackUrl(read.own.callback_url, context)
  const draft = await ownDraft(user, read.draft, context)
  const lentGroups = [...new Set([...lentIn(assets), ...(draft?.lentGroups ?? [])])]
  await requireConsents(derived, context)
  const others = [...(draft?.persons ?? []), ...derived].filter(({ id }) => !assets.some((asset) => asset.id === id))
  const persons = [...personsIn(assets), ...others]
  const sent = withDraft(body, draft?.upstreamId, read.draft?.index).without((key) => own.has(key))
  const limits = read.serviceTier === 'flex' ? undefined : context.limitsOf(read.model)
  const account =
    accountFor(context.accounts, draft ? [...assets, draft] : assets) ?? (await freeAccount(read, context))
  return {
    ...{ read, draft, lentGroups, persons, sent, account },
    // What waits is found by its assets when a person withdraws the consent.
    assets: others.length === 0 ? assets : [...assets, ...others],
    // A task that may have to wait for something else is kept, and submitted when that is there.
    limits:
      read.registersPictures || (context.assets?.place && assets.length > 0) ? (limits ?? unlimitedSlots) : limits,
  }
}

/** What a new task has of its caller and of its request. */
export const newTaskOf = (
  { user, token }: VideoCaller,
  { model, serviceTier, expiresAfter }: VideoRequest,
  id: string,
  now: number,
): Omit<NewVideoTask, 'fields' | 'request'> => ({
  ...{ id, user, model, serviceTier, createdAt: now, expiresAt: now + expiresAfter * 1000 },
  ...(token !== undefined && { token }),
})

/** The account for a task that may be made on any: the one with the shortest queue for the model. */
const freeAccount = async (
  { model }: VideoRequest,
  { accounts, store, clock }: Pick<PrepareContext, 'accounts' | 'store' | 'clock'>,
): Promise<string | undefined> => {
  const { names } = accounts
  if (names.length === 1) return names[0]
  const lengths = await Promise.all(
    names.map(async (name) => {
      const pool = accounts.poolOf(name, model) ?? model
      const { running, users } = await storeCall(store.videoQueueLine(pool, clock.now()), 'failed to read the queue')
      return running + users.reduce((sum, { waiting }) => sum + waiting, 0)
    }),
  )
  return names[lengths.indexOf(Math.min(...lengths))]
}

/** Throws VideoProblem 403 when one of the persons has withdrawn the consent. */
const requireConsents = async (
  persons: readonly PersonAsset[],
  { assets }: Pick<VideoContext, 'assets'>,
): Promise<void> => {
  const groups = [...new Set(persons.map(({ group }) => group))]
  if (groups.length > 0 && (await assets?.areConsented?.(groups)) === false) throw consentWithdrawn
}

const personsIn = (assets: readonly UsedAsset[]): readonly PersonAsset[] =>
  assets.flatMap(({ id, group, showsPerson }) => (showsPerson && group !== undefined ? [{ id, group }] : []))

const lentIn = (assets: readonly UsedAsset[]): readonly string[] =>
  assets.flatMap(({ group, isLent }) => (isLent && group !== undefined ? [group] : []))

/** Assets are made only for a caller who may make them with the routes of the asset library too. */
const requireAssetLibrary = (
  { user, token, scopes }: VideoCaller,
  { pictures }: Pick<PrepareContext, 'pictures'>,
): void => {
  if (!pictures) rejectParameter('references', 'is not supported by this gateway')
  if (scopes === undefined || scopes.includes('media')) return
  throw new VideoProblem(403, 'this credential must not use references: it needs the scope media', {
    param: 'references',
    event: { ...accessDenied('scope', 'media'), user, ...(token !== undefined && { token }) },
  })
}

/** Throws VideoProblem 400 for an address to which the gateway sends nothing. */
const checkCallbackUrl = async (url: string, { checkCallbackUrl: check }: PrepareContext): Promise<void> => {
  if (!check) return rejectParameter('callback_url', 'is not supported by this gateway')
  try {
    await check(url)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new VideoProblem(error.status, error.message, { param: 'callback_url', cause: error.cause })
  }
}

const own: ReadonlySet<string> = new Set(ownNames)

/**
 * The caller's own draft. Throws Problem 400 for any other: the same for a foreign one and one that does not exist. 403
 * for one whose assets are no longer lent to the caller, or show a person who has withdrawn the consent.
 */
const ownDraft = async (
  user: string,
  draft: VideoRequest['draft'],
  { store, assets, accounts }: Pick<VideoContext, 'store' | 'assets' | 'accounts'>,
): Promise<OwnDraft | undefined> => {
  if (!draft) return undefined
  const { id } = draft
  const task = isVideoTaskId(id)
    ? await storeCall(store.videoTask(user, id), 'failed to check the draft task')
    : undefined
  if (task?.status === 'succeeded' && task.upstreamId !== undefined) {
    const { lentGroups = [], persons = [] } = readTaskFields(task.fields)
    if (lentGroups.length > 0 && !(await assets?.areLent?.(user, lentGroups))) throw shareEnded
    await requireConsents(persons, { assets })
    return { id, account: accounts.of(task), upstreamId: task.upstreamId, lentGroups, persons }
  }
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
