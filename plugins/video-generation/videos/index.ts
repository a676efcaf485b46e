import { type AnyElysia, Elysia } from 'elysia'
import { type Audit, noAudit } from '../../shared/audit.ts'
import { type Clock, systemClock } from '../../shared/clock.ts'
import { createErrorHandler, type HandlerContext } from '../../shared/http/error-handler.ts'
import { fallbackRoutes } from '../../shared/http/fallback-routes.ts'
import { identifySameOrigin } from '../../shared/http/origin.ts'
import { checkAbove0, checkCollaborator, checkElysia, checkIdentify, checkPath } from '../../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../../shared/plugin/plugin.ts'
import { seedOf } from '../../shared/plugin/seed.ts'
import { type Log, noLog } from '../../shared/problem.ts'
import type { Fetch } from '../../shared/upstream/upstream-error.ts'
import { videoCallerOf } from '../api/caller.ts'
import { defaultMaxBodyBytes, type VideoRouteOptions } from '../service/options.ts'
import type { VideoService } from '../service/service.ts'
import type { VideoCaller } from '../tasks/tasks.ts'
import type { ContentOptions } from './content.ts'
import { videosDocs } from './openapi.ts'
import { videosProblemBody } from './problem.ts'
import type { VideosRoutes } from './route-types.ts'
import { createVideos, type VideosRequest } from './routes.ts'

/** Options of `openaiVideos`. */
export interface OpenaiVideosOptions extends VideoRouteOptions {
  /** The service, which the plugin `videoGeneration` uses too. */
  readonly service: Pick<VideoService, 'tasks' | 'once' | 'hasUpstream'>
  /**
   * Names of models for callers of these routes, and the names under which the upstream has them, for example of
   * `sora-2`. Default: none.
   */
  readonly modelAliases?: Readonly<Record<string, string>>
  /**
   * Responds with a stored copy, or the range of it that the request asks for. Undefined, or a result undefined: the
   * upstream's link is read.
   */
  readonly openCopy?: ContentOptions['openCopy']
  /** Milliseconds without a byte from the upstream's storage, after which a download is broken off. Default 30,000. */
  readonly silenceMs?: number
  /** Reads results of the upstream. Default: the global `fetch`. */
  readonly fetch?: Fetch
  readonly clock?: Clock
  readonly log?: Log
  /** Receives denied accesses. Default: no audit. */
  readonly audit?: Audit
}

/**
 * Video generation in the form of the OpenAI API: `/v1/videos`, on the tasks of `videoGeneration`.
 *
 * Throws TypeError for a wrong `prefix`, and without `identify` or `service`.
 *
 * @example
 * const service = createVideoService({ upstream, store, background: true })
 * new Elysia().use(openaiVideos({ service, identify, modelAliases: { 'sora-2': 'doubao-seedance-2-0-260128' } }))
 */
export const openaiVideos = <const Prefix extends string = '/v1/videos'>(
  options: OpenaiVideosOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, VideosRoutes>> => {
  checkElysia(Elysia)
  checkIdentify(options.identify)
  const {
    maxBodyBytes = defaultMaxBodyBytes,
    silenceMs = 30_000,
    clock = systemClock,
    log = noLog,
    audit = noAudit,
  } = options
  checkAbove0({ maxBodyBytes, silenceMs })
  checkCollaborator('service', options.service)
  const prefix = checkPath('prefix', options.prefix ?? '/v1/videos')
  const aliases = options.modelAliases ?? {}
  const videos = createVideos({
    ...{ service: options.service, aliases, maxBodyBytes },
    ...{ openCopy: options.openCopy, fetch: options.fetch ?? fetch, silenceMs, clock },
  })
  const identify = identifySameOrigin(options.identify, options.requireSameOrigin)
  const errors = createErrorHandler({ errors: options.errors ?? videosProblemBody, log, audit })

  const route =
    (respond: (request: VideosRequest) => Promise<Response>) =>
    async ({ request, videosCaller, params, set }: VideosRouteContext) => {
      try {
        return await respond({ request, caller: videosCaller, id: params?.video_id ?? '' })
      } catch (error) {
        return errors.respond(error, { request, set })
      }
    }

  const plugin: AnyElysia = new Elysia({ name: 'sluice/openai-videos', seed: seedOf(options), prefix })
    .macro({
      makesVideos: (_required: true) => ({
        resolve: async ({ request, set, status }): Promise<Pick<VideosRouteContext, 'videosCaller'>> => {
          try {
            return { videosCaller: await videoCallerOf(request, identify, options.service) }
          } catch (error) {
            return errors.stop(error, { request, set, status })
          }
        },
      }),
    })
    .post('', route(videos.create), { makesVideos: true, ...videosDocs.create })
    .get('', route(videos.list), { makesVideos: true, ...videosDocs.list })
    .post('/edits', route(videos.edit), { makesVideos: true, ...videosDocs.edit })
    .post('/extensions', route(videos.extend), { makesVideos: true, ...videosDocs.extend })
    .get('/:video_id', route(videos.retrieve), { makesVideos: true, ...videosDocs.retrieve })
    .delete('/:video_id', route(videos.remove), { makesVideos: true, ...videosDocs.remove })
    .get('/:video_id/content', route(videos.content), { makesVideos: true, ...videosDocs.content })
    .post('/:video_id/remix', route(videos.remix), { makesVideos: true, ...videosDocs.remix })
    .use(fallbackRoutes(errors))
  return plugin
}

type VideosRouteContext = HandlerContext & {
  readonly videosCaller: VideoCaller
  /** Path parameters, decoded. Undefined: the path has none. */
  readonly params?: Readonly<Record<string, string>>
}
