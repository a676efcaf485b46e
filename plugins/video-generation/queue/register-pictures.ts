import { inLanes } from '../../shared/background/in-lanes.ts'
import { composeInTurns, composeJson, type Json, readJsonInTurns } from '../../shared/json/json.ts'
import type { PictureAsset, PictureAssets } from '../../shared/media/picture-assets.ts'
import { Problem } from '../../shared/problem.ts'
import { unlimitedSlots } from '../store/slots.ts'
import { videoProblemBody } from '../tasks/problem.ts'
import { type RefusedPicture, readTaskFields, type TaskFields } from '../tasks/request/fields.ts'
import type { VideoTask } from '../tasks/task.ts'
import { failedObject } from '../tasks/view.ts'
import { pictureIn } from './refused-pictures.ts'
import { errorOf } from './rejection.ts'
import type { VideoContext } from './submit.ts'

/** Tasks that one round looks at. */
const maxTasks = 500
/** Users whose tasks are looked at at once, one task of each. */
const lanes = 8
/** Milliseconds of a round after which no further task of a user is looked at: hosts of pictures may be slow. */
const userMs = 5_000
/** Longest pause between two looks at a task, in milliseconds. The pause grows with the time since its refusal. */
const maxPauseMs = 30_000
/** The same for a task that waits for assets which are created again: other tasks make room when they end. */
const maxAwaitingMs = 10_000
/** Milliseconds after which a task fails with the refusal of a picture whose asset is still being processed. */
const giveUpMs = 3_600_000

/**
 * Makes assets of the pictures that the upstream has refused, gets assets to the upstream that are not there, and lets
 * tasks whose assets are active wait for a slot again. Resolves with whether there is such a task.
 *
 * A task whose pictures cannot be registered now is put off, and so are those of a user that take long: others are
 * looked at meanwhile.
 */
export const registerPictures = async (context: VideoContext, signal: AbortSignal): Promise<boolean> => {
  const { pictures = noPictures, assets, store, clock, log } = context
  if (!context.pictures && !assets?.place) return false
  const due = await store.suspendedVideoTasks(clock.now(), maxTasks)
  const known = withoutRepetition(pictures, signal)
  let resumed = false
  const registerOrPutOff = async (task: VideoTask, isLate: boolean): Promise<void> => {
    try {
      if (isLate) await putOff(task, task.fields, context)
      else resumed = (await registerFor(task, known, context)) || resumed
    } catch (err) {
      log.warn({ task: task.id, err }, 'the pictures of a task could not be registered')
      await putOff(task, task.fields, context)
    }
  }
  await inLanes(Map.groupBy(due, ({ user }) => user).values(), lanes, async (tasks) => {
    const until = clock.now() + userMs
    for (const task of tasks) {
      if (signal.aborted) return
      await registerOrPutOff(task, clock.now() > until).catch((err: unknown) =>
        log.warn({ task: task.id, err }, 'a task that waits for assets could not be put off'),
      )
    }
  })
  return resumed
}

type Pictures = Pick<PictureAssets, 'register' | 'stateOf'>

const noPictures: Pictures = {
  register: async () => ({ state: 'busy' }),
  stateOf: async () => ({ state: 'busy' }),
}

/** Many tasks have the same pictures: one call serves all tasks of a round. */
const withoutRepetition = ({ register, stateOf }: Pictures, signal: AbortSignal): Pictures => {
  const calls = new Map<string, Promise<PictureAsset>>()
  const once = (key: string, call: () => Promise<PictureAsset>): Promise<PictureAsset> => {
    const known = calls.get(key) ?? call()
    calls.set(key, known)
    return known
  }
  return {
    register: (picture) => {
      const { user, token = '', url, account = '' } = picture
      const call = () => register({ ...picture, signal })
      // The key of a file would be as long as the file.
      return url.length > maxKeyLength ? call() : once(JSON.stringify([user, token, url, account]), call)
    },
    stateOf: (user, asset) => once(JSON.stringify([user, asset]), () => stateOf(user, asset)),
  }
}

const maxKeyLength = 4_096

const registerFor = async (task: VideoTask, pictures: Pictures, context: VideoContext): Promise<boolean> => {
  const { store, clock } = context
  const fields = readTaskFields(task.fields)
  const { refusal, pictures: refused = [] } = fields.registration ?? {}
  const now = clock.now()
  const assets = createAssets(task, context.accounts.of(task), pictures, context)
  const next: RefusedPicture[] = []
  let ready = true
  for (const picture of refused) {
    const state = await assets(picture)
    if (state.state === 'failed') return fail(task, state, context)
    ready &&= state.state === 'active'
    const { index, since = now } = picture
    next.push({ index, ...(state.state !== 'busy' && { asset: state.asset, since }) })
    if (refusal && state.state === 'processing' && now > since + giveUpMs) return fail(task, refusal, context)
  }
  const changed: TaskFields = fields.registration
    ? { ...fields, registration: { ...fields.registration, pictures: next } }
    : fields
  const text = JSON.stringify(changed)
  const made = [...new Set(next.flatMap(({ asset }) => asset ?? []))]
  // An asset that has never been at the upstream is processing too. It gets there in the turn of this task.
  if (context.assets?.place && next.every(({ asset }) => asset !== undefined)) {
    const needed = [...new Set([...(fields.awaited ?? []), ...made])]
    try {
      if (needed.length > 0) ready = (await context.assets.place(needed, task.id)) !== undefined && ready
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      return fail(task, (await failureOf(made, task, context)) ?? errorOf(error), context)
    }
  }
  if (ready) return store.resumeVideoTask(task, text, clock.now(), made)
  await putOff(task, text, context)
  return false
}

/** Why the upstream has not taken one of the pictures, in its own words. Undefined: it has taken them all. */
const failureOf = async (assets: readonly string[], { user }: VideoTask, { pictures }: VideoContext) => {
  for (const asset of assets) {
    const state = await pictures?.stateOf(user, asset)
    if (state?.state === 'failed') return state
  }
  return undefined
}

/** Finds the asset of each picture of a task, or makes it. The request is read once, and only if it is needed. */
const createAssets = (
  { id, user, token }: VideoTask,
  account: string | undefined,
  pictures: Pictures,
  { store }: VideoContext,
) => {
  let request: Promise<Json> | undefined
  const read = async (): Promise<Json> =>
    readJsonInTurns(await composeInTurns(composeJson([await store.videoTaskRequest(id)])))
  return async ({ index, asset }: RefusedPicture): Promise<PictureAsset> => {
    if (asset !== undefined) return pictures.stateOf(user, asset)
    request ??= read()
    const url = pictureIn(await request, index)
    if (url === undefined) throw new Error('the request has no such picture')
    try {
      return await pictures.register({ user, token, url, account })
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      // For example a limit of the user.
      const { code, message } = (videoProblemBody(error) as { error: { code: string; message: string } }).error
      return { state: 'failed', code, message }
    }
  }
}

const fail = async (
  task: VideoTask,
  { code, message }: { readonly code: string; readonly message: string },
  { store, clock }: VideoContext,
): Promise<false> => {
  const now = clock.now()
  await store.failVideoTask(task, failedObject(task, { code, message }, now), now)
  return false
}

const putOff = async (task: VideoTask, fields: string, { store, clock, pollMs }: VideoContext): Promise<void> => {
  const now = clock.now()
  const { registration, awaited } = readTaskFields(fields)
  const { at = task.createdAt } = registration?.refusal ?? {}
  const pauseMs = Math.min(awaited ? maxAwaitingMs : maxPauseMs, Math.max((now - at) / 4, Math.min(1_000, pollMs)))
  await store.suspendVideoTask(task, { fields, dueAt: now + Math.ceil(pauseMs), limits: unlimitedSlots }, now)
}
