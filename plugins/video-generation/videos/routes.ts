import type { Awaitable } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import { FieldProblem } from '../../shared/field-problem.ts'
import { inFlightOf } from '../../shared/http/in-flight.ts'
import { noStoreText } from '../../shared/http/no-store.ts'
import { composeInTurns, type Json, readJsonInTurns } from '../../shared/json/json.ts'
import type { VideoService } from '../service/service.ts'
import type { TaskEstimate } from '../tasks/task-estimate.ts'
import type { VideoCaller } from '../tasks/tasks.ts'
import { type ContentOptions, downloadContent } from './content.ts'
import { type Derivation, derivedFields, sourceOf, toDerivedTask } from './derived.ts'
import { listVideos } from './list.ts'
import { createNames, derivedNames, type FieldNames, nameIn, translateError } from './problem.ts'
import { composedBytes, type Fields, readFields } from './request/fields.ts'
import { createFields, type ModelAliases, type NewVideo, toTask, type VideoNotes } from './request/video-request.ts'
import type { Video } from './route-types.ts'
import { toVideo } from './video.ts'

export interface VideosOptions extends ContentOptions {
  readonly service: Pick<VideoService, 'tasks' | 'once'>
  /** Names of models for callers of these routes, and the names under which the upstream has them. */
  readonly aliases: ModelAliases
  /** The maximum length of a body, in bytes. */
  readonly maxBodyBytes: number
  readonly clock: Clock
}

/** The parts of an authenticated request. */
export interface VideosRequest {
  readonly request: Request
  readonly caller: VideoCaller
  /** Of the path. */
  readonly id: string
}

/** The routes of the OpenAI API below `/videos`, without their paths. They throw Problems. */
export interface Videos {
  create(request: VideosRequest): Promise<Response>
  list(request: VideosRequest): Promise<Response>
  retrieve(request: VideosRequest): Promise<Response>
  remove(request: VideosRequest): Promise<Response>
  content(request: VideosRequest): Promise<Response>
  remix(request: VideosRequest): Promise<Response>
  edit(request: VideosRequest): Promise<Response>
  extend(request: VideosRequest): Promise<Response>
}

/** Creates the routes of the OpenAI API on the service that the native routes use too. */
export const createVideos = (options: VideosOptions): Videos => {
  const { service, aliases, maxBodyBytes, clock } = options
  const { tasks, once } = service

  /** The caller, with the alias by which the request names its model. */
  const named = (caller: VideoCaller, json: Json, { model }: VideoNotes): VideoCaller => {
    const isAlias = Object.hasOwn(aliases, model) && aliases[model] === json.get('model')?.string()
    return isAlias ? { ...caller, modelAlias: model } : caller
  }

  const fieldsOf = (request: Request, names: readonly string[]) => readFields(request, { names, maxBodyBytes })

  /**
   * @param repeated the bytes that a repetition with the same `Idempotency-Key` must repeat: a form has another
   * boundary each time
   */
  const create = (
    { caller, request }: VideosRequest,
    repeated: Uint8Array,
    names: FieldNames,
    compose: () => Promise<Omit<NewVideo, 'body'> & { readonly json: Json }>,
  ): Awaitable<Response> => {
    const translate = (error: unknown): never => {
      throw translateError(error, names)
    }
    const estimate = async (): Promise<Response> => {
      const { json, notes, persons } = await compose()
      const estimated = tasks.estimate(named(caller, json, notes), json, request, { persons }).catch(translate)
      return jsonResponse(withCallerNames(await estimated, names))
    }
    if (asksForDryRun(new URL(request.url).searchParams)) return estimate()
    return once(
      { request, user: caller.user, route: 'createVideo', body: repeated },
      async (attempt) => {
        const { json, notes, persons } = await compose()
        return tasks
          .create(named(caller, json, notes), json, request, { notes: { ...notes }, attempt, persons })
          .catch(translate)
      },
      (view) => videoResponse(toVideo(view)),
    )
  }

  const derive = (fields: Fields, id: string, derivation: Derivation, given: VideosRequest) => {
    // A derivation has short texts only: with anything else it fails.
    const texts = [...fields].map(([name, value]) => [name, typeof value === 'string' ? value : null])
    const repeated = new TextEncoder().encode(JSON.stringify([derivation, id, ...texts]))
    return create(given, repeated, derivedNames, async () => {
      const source = await tasks.find(given.caller.user, id)
      const { body, ...more } = toDerivedTask(fields, source, { derivation, clock })
      return { json: body, ...more }
    })
  }

  return {
    async create(given) {
      const { request } = given
      const fields = await fieldsOf(request, createFields)
      const { body, notes } = toTask(fields, aliases)
      // Counted before it is composed: a file as base64, and anything else about as long as it was.
      inFlightOf(request)?.reading(composedBytes(fields))
      const bytes = await composeInTurns(body)
      return create(given, bytes, createNames, async () => ({ json: await readJsonInTurns(bytes), notes }))
    },
    async list({ caller, request }) {
      return jsonResponse(await listVideos(tasks, caller.user, new URL(request.url).searchParams))
    },
    retrieve: async ({ caller, id }) => videoResponse(toVideo(await tasks.find(caller.user, id))),
    async remove({ caller, id }) {
      // A task that was cancelled is still there.
      if ((await tasks.remove(caller.user, id)) === 'cancelled') await tasks.remove(caller.user, id, 'delete')
      return jsonResponse({ id, object: 'video.deleted', deleted: true })
    },
    content: async ({ caller, id, request }) => downloadContent(await tasks.find(caller.user, id), request, options),
    remix: async (given) => derive(await fieldsOf(given.request, derivedFields.remix), given.id, 'edit', given),
    async edit(given) {
      const fields = await fieldsOf(given.request, derivedFields.edit)
      return derive(fields, sourceOf(fields), 'edit', given)
    },
    async extend(given) {
      const fields = await fieldsOf(given.request, derivedFields.extend)
      return derive(fields, sourceOf(fields), 'extend', given)
    },
  }
}

/**
 * How often the official client for Python asks for an unfinished video, in milliseconds: the gateway learns of changes
 * as often.
 */
const pollAfterMs = 3_000

const videoResponse = (video: Video): Response => {
  const unfinished = video.status === 'queued' || video.status === 'in_progress'
  return jsonResponse(video, unfinished ? { 'openai-poll-after-ms': String(pollAfterMs) } : {})
}

const jsonResponse = (value: object, headers: Record<string, string> = {}): Response =>
  noStoreText(JSON.stringify(value), headers)

/** Whether a request asks only what would happen. Throws FieldProblem 400 for anything but true and false. */
const asksForDryRun = (query: URLSearchParams): boolean => {
  const [value = 'false', more] = query.getAll('dry_run')
  if (more === undefined && (value === 'true' || value === 'false')) return value === 'true'
  throw new FieldProblem(400, 'dry_run must be true or false', { param: 'dry_run' })
}

/** An estimate with the fields of the caller's request. */
const withCallerNames = (estimate: TaskEstimate, names: FieldNames): TaskEstimate => ({
  ...estimate,
  references: estimate.references.map((each) => ({ ...each, param: nameIn(each.param, names) })),
  violations: estimate.violations.map((each) => ({ ...each, param: nameIn(each.param, names) })),
})
