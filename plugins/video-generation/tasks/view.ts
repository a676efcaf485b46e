import { type Json, type MemberChange, readJson, toJson } from '../../shared/json/json.ts'
import { defaultExpirySeconds, readTaskFields, type TaskFields } from './request/fields.ts'
import type { VideoTask } from './task.ts'
import type { QueuePlace, VideoResult, VideoTaskView } from './tasks.ts'

/** Links of the gateway's own to the copies of a result. Undefined: there are none. */
export type LinkResult = (task: VideoTask) => StoredResult | undefined

/** Where the copies of a result are. */
export interface StoredResult extends Pick<VideoResult, 'expiresAt' | 'copies'> {
  /** Links to the copies, which need no credential. */
  readonly links: VideoResult['links']
}

/** A task as its owner sees it. Its members are computed when they are read. */
class View implements VideoTaskView {
  readonly queue: QueuePlace | undefined
  readonly #task: VideoTask
  readonly #linkResult: LinkResult | undefined

  constructor(task: VideoTask, linkResult: LinkResult | undefined, queue: QueuePlace | undefined) {
    this.#task = task
    this.#linkResult = linkResult
    this.queue = queue
  }

  get id() {
    return this.#task.id
  }

  get status() {
    return this.#task.status
  }

  get model() {
    return this.#task.model
  }

  get createdAt() {
    return this.#task.createdAt
  }

  get endedAt() {
    return this.#task.endedAt
  }

  get notes() {
    return readTaskFields(this.#task.fields).notes
  }

  get persons() {
    return readTaskFields(this.#task.fields).persons
  }

  get body(): Json {
    return bodyOf(this.#task, this.#linkResult)
  }

  get result(): VideoResult | undefined {
    const { status, endedAt = 0 } = this.#task
    if (status !== 'succeeded') return undefined
    const content = objectOf(this.#task)?.get('content')
    const [video, lastFrame] = ['video_url', 'last_frame_url'].map((name) => content?.get(name)?.string())
    const stored = this.#linkResult?.(this.#task)
    return {
      expiresAt: stored?.expiresAt ?? endedAt + linkMs,
      copies: stored?.copies ?? {},
      links: { ...(video !== undefined && { video }), ...(lastFrame !== undefined && { lastFrame }) },
    }
  }
}

/** Milliseconds for which the upstream signs links to results. */
const linkMs = 86_400_000

/** The task as its owner sees it. */
export const viewOf = (task: VideoTask, linkResult?: LinkResult, queue?: QueuePlace): VideoTaskView =>
  new View(task, linkResult, queue)

/** The upstream's task object, if it shows the present status. */
const objectOf = ({ task, status }: VideoTask): Json | undefined => {
  // Empty: the upstream was asked, and did not have the task yet.
  if (!task) return undefined
  const json = readJson(task)
  return json.get('status')?.string() === status ? json : undefined
}

const bodyOf = (task: VideoTask, linkResult: LinkResult | undefined): Json => {
  const fields = readTaskFields(task.fields)
  const given = objectOf(task)
  if (!given) return toJson(ownObject(task, fields))
  const changes: MemberChange[] = [
    ['id', toJson(task.id)],
    ['created_at', toJson(seconds(task.createdAt))],
  ]
  for (const [name, value] of Object.entries(ownValues(fields)))
    if (given.get(name)) changes.push([name, value === undefined ? undefined : toJson(value)])
  const content = given.get('content')
  const links = content?.isObject ? linkResult?.(task)?.links : undefined
  if (content && links) {
    const { video, lastFrame } = links
    const changed: MemberChange[] = []
    if (video !== undefined) changed.push(['video_url', toJson(video)])
    if (lastFrame !== undefined) changed.push(['last_frame_url', toJson(lastFrame)])
    changes.push(['content', content.edit(changed)])
  }
  return given.edit(changes)
}

/** The object of a task that the upstream does not have, or that it shows with another status. */
const ownObject = (task: VideoTask, fields: TaskFields): object => {
  const { priority, safety_identifier, execution_expires_after } = ownValues(fields)
  return {
    id: task.id,
    model: task.model,
    status: task.status,
    error: null,
    created_at: seconds(task.createdAt),
    updated_at: seconds(task.endedAt ?? task.submittedAt ?? task.createdAt),
    ...fields.shown,
    service_tier: task.serviceTier,
    execution_expires_after,
    ...(priority !== undefined && { priority }),
    ...(safety_identifier !== undefined && { safety_identifier }),
  }
}

/**
 * The fields that the gateway owns, as the caller has sent them, or as the vendor's default is. Undefined: a task
 * object does not have it.
 */
const ownValues = ({ own, shown }: TaskFields) => ({
  ...(own.priority !== undefined && { priority: own.priority }),
  safety_identifier: own.safety_identifier,
  execution_expires_after: own.execution_expires_after ?? defaultExpirySeconds,
  callback_url: own.callback_url,
  draft_task_id: shown.draft_task_id,
})

/** A task object with an error, for a task that the upstream has rejected. */
export const failedObject = (
  task: Pick<VideoTask, 'model' | 'serviceTier'>,
  error: { readonly code: string; readonly message: string },
  at: number,
): string =>
  JSON.stringify({
    id: '',
    model: task.model,
    status: 'failed',
    error,
    created_at: 0,
    updated_at: seconds(at),
    service_tier: task.serviceTier,
    execution_expires_after: 0,
  })

const seconds = (ms: number): number => Math.floor(ms / 1000)
