import type { ReceivedRequest } from '../action.ts'
import type { VideoAction } from '../action-names.ts'
import { jsonReply, type Reply } from '../faults/faulty-reply.ts'
import type { AppliedFault } from '../faults/registry.ts'
import type { LinkSigner } from '../files/link-signer.ts'
import type { Library } from '../library/library.ts'
import type { Settings } from '../options.ts'
import { firstOf } from '../shared/ids.ts'
import { splitTarget } from '../shared/paths.ts'
import type { Json } from '../shared/reader.ts'
import { compactTime } from '../shared/times.ts'
import { type Callbacks, createCallbacks, type VideoCallback } from './callbacks.ts'
import type { VideoEndpoint, VideoModel } from './models.ts'
import { createMinuteCounter, rateLimitError } from './rate-limits.ts'
import type { KnownObjects } from './request/content.ts'
import { readerOf, readRequest, type VideoRequest } from './request/task-request.ts'
import { createResults } from './results/results.ts'
import { authorizeVideo, videoActionOf, videoBodyOf } from './routes.ts'
import { listTasks } from './tasks/lists.ts'
import type { VideoOutcome, VideoTask } from './tasks/task.ts'
import { taskObject } from './tasks/task-object.ts'
import { createTasks, type Tasks } from './tasks/tasks.ts'
import { createTimer } from './tasks/timer.ts'
import { errorBodyOf, invalidField, serviceError, unknownTask, VideoError } from './video-error.ts'

/** Video generation of an account. */
export interface VideoService {
  readonly tasks: Tasks
  readonly callbacks: Callbacks
  /** responds to a request; `number` is that of the request */
  reply(request: ReceivedRequest, number: number, faults: readonly AppliedFault[]): Reply
  /** the body of an internal error, for the fault `status` */
  serverError(number: number): string
  stop(): void
}

/** What video generation depends on. `faultsFor` returns the faults of an action. */
export interface VideoSource {
  readonly settings: Settings
  readonly library: Library
  /** signs the links of results */
  readonly signer: LinkSigner
  readonly origin: () => string
  readonly faultsFor: (api: string, action: string) => readonly AppliedFault[]
}

/** Creates video generation. Its clock is that of the library. */
export const createVideoService = ({ settings, library, signer, origin, faultsFor }: VideoSource): VideoService => {
  const { video, project } = settings
  const known: KnownObjects = { library, project, presetAssets: video.presetAssets }
  const results = createResults(video, signer, library.now, origin)
  const objectOf = (task: VideoTask, listed = false) => taskObject(task, results.linksOf, listed)
  const callbacks = createCallbacks({
    timeoutMs: video.callbackTimeoutMs,
    faults: () => faultsFor('video', 'SendVideoCallback'),
  })
  const onChange = (task: VideoTask): void => {
    callbacks.send(task, objectOf(task))
    timer.start()
  }
  const tasks = createTasks(video, library.now, onChange, firstOf(settings.account))
  const counter = createMinuteCounter(library.now)
  const timer = createTimer(tasks, library.now)

  const modelOf = (name: string): { readonly model: VideoModel; readonly endpoint?: VideoEndpoint } => {
    const endpoint = video.endpoints.find(({ id }) => id === name)
    const model = video.models.find(({ id }) => id === (endpoint?.model ?? name))
    if (model !== undefined) return { model, ...(endpoint && { endpoint }) }
    const message = `The model or endpoint ${name} does not exist or you do not have access to it.`
    throw new VideoError(404, 'InvalidEndpointOrModel.NotFound', message, { param: 'model' })
  }

  /** A draft is the input of its final video: the new request chooses only the resolution and the delivery. */
  const withDraft = (request: VideoRequest, model: VideoModel): VideoRequest => {
    if (request.draftTaskId === undefined) return request
    const draft = tasks.find(request.draftTaskId)
    const isUsable = draft?.status === 'succeeded' && draft.request.draft && draft.model.id === model.id
    if (!isUsable)
      throw invalidField('content[0].draft_task', `there is no succeeded draft task ${request.draftTaskId}`)
    const { prompt, mode, ratio, duration, seed, generateAudio, inputSeconds } = draft.request
    return { ...request, prompt, mode, ratio, duration, seed, generateAudio, inputSeconds }
  }

  const create = (body: Json): object => {
    const requestedModel = readerOf(body).required('model')
    const { model, endpoint } = modelOf(requestedModel)
    if (endpoint) counter.take(endpoint.id, endpoint.requestsPerMinute ?? Number.POSITIVE_INFINITY, 'endpoint-rpm')
    counter.take(model.id, video.createsPerMinute, 'model-rpm')
    const request = withDraft(readRequest(body, model, known), model)
    const { id } = tasks.create({ model, requestedModel, body, request })
    return { id, ...(request.safetyIdentifier !== undefined && { safety_identifier: request.safetyIdentifier }) }
  }

  const find = (id: string): VideoTask => {
    const task = tasks.find(id)
    if (task === undefined) throw unknownTask(id)
    return task
  }

  const list = (query: URLSearchParams): object => {
    const { items, total } = listTasks(tasks.all(), query, library.now(), video)
    return { items: items.map((task) => objectOf(task, true)), total }
  }

  const perform = (request: ReceivedRequest, faults: readonly AppliedFault[]): object => {
    const { action, id } = authorizeVideo(request, video.key)
    for (const { fault } of faults) if (fault.kind === 'rate-limit') throw rateLimitError(fault.limit)
    if (action !== 'CreateVideoTask') counter.take(action, video.callsPerMinute, 'api-rpm')
    const run: Readonly<Partial<Record<VideoAction, () => object>>> = {
      CreateVideoTask: () => create(videoBodyOf(request)),
      GetVideoTask: () => objectOf(find(id)),
      ListVideoTasks: () => list(new URLSearchParams(splitTarget(request.target)[1])),
      DeleteVideoTask: () => {
        tasks.remove(find(id))
        return {}
      },
    }
    return run[action]?.() ?? {}
  }

  const requestIdOf = (number: number): string =>
    `02${compactTime(library.now())}${number.toString(16).padStart(18, '0')}`

  const reply = (request: ReceivedRequest, number: number, faults: readonly AppliedFault[]): Reply => {
    if (videoActionOf(request) === 'DownloadVideoResult') return results.reply(request)
    const requestId = requestIdOf(number)
    const headers = { 'x-request-id': requestId }
    try {
      return jsonReply(200, JSON.stringify(perform(request, faults)), headers)
    } catch (error) {
      const known = error instanceof VideoError ? error : serviceError()
      return jsonReply(known.status, errorBodyOf(known, requestId), { ...headers, ...known.details.headers })
    }
  }

  return {
    tasks,
    callbacks,
    reply,
    serverError: (number) => errorBodyOf(serviceError(), requestIdOf(number)),
    stop() {
      timer.stop()
      callbacks.stop()
    },
  }
}

/** The tasks of video generation, for tests: without the API, its key and its limits. */
export interface VideoTasks {
  /** all tasks since the start, oldest first, also those that are gone; grows without limit */
  tasks(): VideoTask[]
  /** Ends a queued or running task now; default: it succeeds. Throws for an unknown task and for one that has ended. */
  finish(id: string, outcome?: VideoOutcome): VideoTask
  /** advances the clock of tasks, links and the asset library by `ms`, and brings all tasks up to the new time */
  advance(ms: number): void
  /** all attempts to deliver a callback since the start, oldest first; grows without limit */
  callbacks(): VideoCallback[]
  /** resolves when no callback waits for its answer or its next attempt */
  callbacksSettled(): Promise<void>
}

/** The tasks of a service. */
export const videoTasksOf = ({ tasks, callbacks }: VideoService, library: Library): VideoTasks => ({
  tasks: tasks.all,
  finish(id, outcome = { status: 'succeeded' }) {
    const task = tasks.find(id)
    if (task === undefined) throw new Error(`there is no video task ${id}`)
    const ended = tasks.finish(task, outcome)
    if (ended === undefined) throw new Error(`the video task ${id} has ended: ${task.status}`)
    return ended
  },
  advance(ms) {
    library.advance(ms)
    tasks.settle()
  },
  callbacks: callbacks.list,
  callbacksSettled: callbacks.settled,
})
