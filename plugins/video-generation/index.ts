import { type AnyElysia, Elysia } from 'elysia'
import { noAudit } from '../shared/audit.ts'
import type { Awaitable } from '../shared/awaitable.ts'
import { KeyedSemaphore } from '../shared/background/keyed-semaphore.ts'
import { readJsonBody } from '../shared/http/body/body.ts'
import { responseOf } from '../shared/http/body/known-body.ts'
import { createErrorHandler, type HandlerContext } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { noStoreHeaders } from '../shared/http/no-store.ts'
import { identifySameOrigin } from '../shared/http/origin.ts'
import { checkAbove0, checkElysia, checkIdentify, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { noLog } from '../shared/problem.ts'
import { videoCallerOf } from './api/caller.ts'
import { videoDocs } from './api/openapi.ts'
import type { VideoRoutes } from './api/route-types.ts'
import { defaultMaxBodyBytes, type VideoRouteOptions, type VideoServiceOptions } from './service/options.ts'
import { createVideoService, type VideoService } from './service/service.ts'
import { rejectParameter, unknownCallback, videoProblemBody } from './tasks/problem.ts'
import { readListQuery } from './tasks/request/list-query.ts'
import { isDryRun } from './tasks/request/task-request.ts'
import { composeList, listsAtOnce } from './tasks/task-list.ts'
import type { RemoveMode, VideoCaller, VideoTaskView } from './tasks/tasks.ts'

export type { ErrorsOption } from '../shared/http/error-handler.ts'

export type { Identify, Identity } from '../shared/identity/identify.ts'
export type { NewPicture, PictureAsset, PictureAssets } from '../shared/media/picture-assets.ts'
export type * from './api/route-types.ts'
export { adoptVideoTask, releaseVideoTask, type VideoDecisionOptions } from './decisions/decisions.ts'
export type * from './decisions/store.ts'
export type { VideoResultFile, VideoResultStorage } from './results/results.ts'
export type { VideoRouteOptions, VideoServiceOptions } from './service/options.ts'
export { createVideoService, type VideoService } from './service/service.ts'
export type * from './store/pool.ts'
export type * from './store/queue.ts'
export type * from './store/task-store.ts'
export { VideoProblem, videoProblemBody } from './tasks/problem.ts'
export type { RuleViolation } from './tasks/request/model-rules.ts'
export type * from './tasks/statuses.ts'
export type * from './tasks/task.ts'
export type * from './tasks/task-estimate.ts'
export type * from './tasks/tasks.ts'
export type { LinkResult, StoredResult } from './tasks/view.ts'
export type { VideoAccount } from './upstream/accounts.ts'
export type { VideoCall, VideoUpstream } from './upstream/client.ts'
export { type OpenaiVideosOptions, openaiVideos } from './videos/index.ts'
export type * from './videos/route-types.ts'

/** Options of `videoGeneration`: those of the service, or one that several plugins share. */
export type VideoGenerationOptions = VideoRouteOptions &
  (VideoServiceOptions | (Pick<VideoServiceOptions, 'prefix' | 'log' | 'audit'> & { readonly service: VideoService }))

/**
 * Video generation in the vendor's own form: `/api/v3/contents/generations/tasks`.
 *
 * Throws TypeError for a wrong `prefix`, and as `createVideoService` does.
 *
 * @example
 * new Elysia().use(videoGeneration({ upstream, store, identify, background: true }))
 */
export const videoGeneration = <const Prefix extends string = '/api/v3'>(
  options: VideoGenerationOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, VideoRoutes>> => {
  checkElysia(Elysia)
  checkIdentify(options.identify)
  const { maxBodyBytes = defaultMaxBodyBytes, log = noLog, audit = noAudit } = options
  checkAbove0({ maxBodyBytes })
  const prefix = checkPath('prefix', options.prefix ?? '/api/v3')
  const service = 'service' in options ? options.service : createVideoService(options)
  const { tasks, once, receiveCallback } = service
  const identify = identifySameOrigin(options.identify, options.requireSameOrigin)
  const errors = createErrorHandler({ errors: options.errors ?? videoProblemBody, log, audit })
  const lists = new KeyedSemaphore(listsAtOnce)

  /** Creates a route's handler from a function that may throw. */
  const route =
    (respond: (request: VideoRouteRequest) => Awaitable<Response>) =>
    async ({ request, videoCaller, params, set }: VideoRouteRequest & HandlerContext) => {
      try {
        return await respond({ request, videoCaller, params })
      } catch (error) {
        return errors.respond(error, { request, set })
      }
    }

  const plugin: AnyElysia = new Elysia({ name: 'sluice/video-generation', seed: seedOf(options), prefix })
    .macro({
      generatesVideos: (_required: true) => ({
        resolve: async ({ request, set, status }): Promise<Pick<VideoRouteRequest, 'videoCaller'>> => {
          try {
            return { videoCaller: await videoCallerOf(request, identify, service) }
          } catch (error) {
            return errors.stop(error, { request, set, status })
          }
        },
      }),
    })
    .post(
      '/contents/generations/tasks',
      route(async ({ request, videoCaller }) => {
        const { json, bytes } = await readJsonBody(request, maxBodyBytes, requestLimits)
        if (isDryRun(json)) return respondJson(JSON.stringify(await tasks.estimate(videoCaller, json, request)))
        return once(
          { request, user: videoCaller.user, route: 'createVideoTask', body: bytes },
          (attempt) => tasks.create(videoCaller, json, request, { attempt }),
          (view) => respondJson(JSON.stringify({ id: view.id }), view),
        )
      }),
      { generatesVideos: true, ...videoDocs.createVideoTask },
    )
    .get(
      '/contents/generations/tasks',
      route(async ({ request, videoCaller }) => {
        const { filter, ...page } = readListQuery(new URL(request.url).searchParams)
        const list = async () => {
          const { tasks: items, total } = await tasks.list(videoCaller.user, filter, page)
          return respondJson(await composeList(items, total))
        }
        return lists.run(videoCaller.user, list)
      }),
      { generatesVideos: true, ...videoDocs.listVideoTasks },
    )
    .get(
      '/contents/generations/tasks/:task_id',
      route(async ({ videoCaller, params }) => {
        const view = await tasks.find(videoCaller.user, params.task_id ?? '')
        return respondJson(view.body.raw, view)
      }),
      { generatesVideos: true, ...videoDocs.getVideoTask },
    )
    .delete(
      '/contents/generations/tasks/:task_id',
      route(async ({ request, videoCaller, params }) => {
        await tasks.remove(videoCaller.user, params.task_id ?? '', removeModeOf(request))
        return respondJson('{}')
      }),
      { generatesVideos: true, ...videoDocs.deleteVideoTask },
    )
    .post(
      '/contents/generations/callbacks/:task_id/:key',
      // The body is not read: the upstream is asked for the task.
      async ({ request, params, set }) => {
        try {
          if (!(await receiveCallback(params.task_id, params.key))) throw unknownCallback
          return respondJson('{}')
        } catch (error) {
          return errors.respond(error, { request, set })
        }
      },
      videoDocs.receiveVideoCallback,
    )
    .use(fallbackRoutes(errors))
  return plugin
}

/** A request has some 300 values. Each key of it costs time. */
const requestLimits = { maxValues: 10_000, maxKeyBytes: 2 ** 18 }

interface VideoRouteRequest {
  readonly request: Request
  readonly videoCaller: VideoCaller
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>
}

const respondJson = (body: string, { queue }: Partial<Pick<VideoTaskView, 'queue'>> = {}): Response => {
  const headers = new Headers({ 'content-type': 'application/json', ...noStoreHeaders })
  if (queue) headers.set('x-queue-position', String(queue.position))
  if (queue?.seconds !== undefined) headers.set('x-queue-seconds', String(queue.seconds))
  return responseOf(body, { headers })
}

/** Items have an error twice: the vendor's libraries for lists read `failure_reason`. */
const removeModeOf = (request: Request): RemoveMode | undefined => {
  const mode = new URL(request.url).searchParams.get('mode') || undefined
  if (mode === undefined || mode === 'cancel' || mode === 'delete') return mode
  return rejectParameter('mode', 'must be cancel or delete')
}
