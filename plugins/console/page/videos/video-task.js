import { paths } from '../api/paths.js'
import { t } from '../words/words.js'

/** @typedef {import('../api/api.js').Api} Api */
/** @typedef {'queued' | 'running' | 'succeeded' | 'failed' | 'expired' | 'cancelled'} Status */
/** @typedef {{ code?: string, message?: string }} TaskError */
/**
 * @typedef {object} Task
 * @property {string} id
 * @property {string} model
 * @property {Status} status
 * @property {TaskError | null} [error]
 * @property {number} created_at seconds since 1970, as `updated_at`
 * @property {number} updated_at
 * @property {{ video_url?: string, last_frame_url?: string, file_url?: string }} [content]
 * @property {{ completion_tokens?: number }} [usage]
 * @property {string} [revised_prompt]
 * @property {string} [service_tier]
 * @property {string} [resolution]
 * @property {string} [ratio]
 * @property {number} [duration]
 * @property {number} [seed]
 * @property {boolean} [draft]
 * @property {Place} [place]
 */
/**
 * @typedef {{ position: number, seconds?: number }} Place the place in the server's queue, and the estimated seconds
 * until the start
 */

const tasksPath = `${paths.video}/contents/generations/tasks`

/** @param {string} id */
const pathOf = (id) => `${tasksPath}/${encodeURIComponent(id)}`

/**
 * @param {Api} api
 * @param {Readonly<Record<string, string | readonly string[]>>} query an empty value is omitted
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ items: readonly Task[], total: number }>}
 */
export const listTasks = async (api, query, signal) => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one) parameters.append(name, one)
  return api.requestWithToken(`${tasksPath}?${parameters}`, { signal })
}

/**
 * @param {Api} api
 * @param {string} id
 * @returns {Promise<Task>}
 */
export const readTask = async (api, id) => {
  const response = await api.sendWithToken(pathOf(id))
  const position = Number(response.headers.get('x-queue-position') ?? Number.NaN)
  const seconds = Number(response.headers.get('x-queue-seconds') ?? Number.NaN)
  const task = await response.json()
  if (Number.isNaN(position)) return task
  return { ...task, place: { position, ...(!Number.isNaN(seconds) && { seconds }) } }
}

/**
 * @param {Api} api
 * @param {object} body
 * @param {string} idempotencyKey
 * @returns {Promise<string>} the id
 */
export const createTask = async (api, body, idempotencyKey) =>
  String((await api.requestWithToken(tasksPath, { method: 'POST', body, idempotencyKey })).id)

/**
 * @typedef {object} Estimate what a video would use, cost and wait for
 * @property {{ completion_tokens: number, seconds: number, exact: boolean }} usage
 * @property {number | null} cost
 * @property {readonly { param: string, message: string }[]} violations what the model's rules do not allow
 * @property {{ position: number, seconds: number | null } | null} queue
 */

/**
 * Asks what a request would cost. It makes no video.
 * @param {Api} api
 * @param {object} body
 * @param {AbortSignal} signal
 * @returns {Promise<Estimate>}
 */
export const estimateTask = (api, body, signal) =>
  api.requestWithToken(tasksPath, { method: 'POST', body: { ...body, dry_run: true }, signal })

/**
 * Cancels a task that waits, or deletes one that has ended. The server rejects the request if the task has moved on
 * meanwhile.
 * @param {Api} api
 * @param {Task} task
 */
export const removeTask = async (api, task) => {
  const mode = hasEnded(task) ? 'delete' : 'cancel'
  await api.requestWithToken(`${pathOf(task.id)}?mode=${mode}`, { method: 'DELETE' })
}

/** @param {Task} task */
const stepOf = ({ status }) => (status === 'queued' ? 0 : status === 'running' ? 1 : 2)

/** @param {Task} task */
export const hasEnded = ({ status }) => status !== 'queued' && status !== 'running'

/**
 * The tasks with the newer state of one of them, or with one more, which comes first.
 *
 * Statuses never go backwards, so a response that was overtaken by another changes nothing.
 * @param {readonly Task[]} tasks
 * @param {Task} task
 */
export const withTask = (tasks, task) => {
  const known = tasks.find(({ id }) => id === task.id)
  if (!known) return [task, ...tasks]
  if (stepOf(known) > stepOf(task)) return tasks
  return tasks.map((one) => (one === known ? task : one))
}

/**
 * Why a task has failed, in words.
 * @param {Task} task
 */
export const reasonOf = ({ status, error }) => {
  if (status === 'expired') return error?.message || t.videos.expiredReason
  return status === 'failed' ? error?.message || error?.code || t.videos.failedReason : undefined
}
