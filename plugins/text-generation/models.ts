import { type Json, JsonError, readJson, responseLimits } from '../shared/json.ts'
import { toResponse, UpstreamInvalidError } from '../shared/upstream-error.ts'
import type { GenerationContext } from './call.ts'
import { Deadline } from './deadline.ts'
import { TextProblem } from './problem.ts'
import { readResponse } from './upstream/client.ts'
import type { ModelRouting, TextUpstream } from './upstream/model-routing.ts'

interface ModelsRequest {
  readonly routing: ModelRouting
  readonly request: Request
  readonly arrivedAt: number
}

/** `GET /v1/models/{id}`: forwards the request to the upstream that serves the model. */
export const getModel = async (
  { id, ...request }: ModelsRequest & { readonly id: string | null },
  context: GenerationContext,
): Promise<Response> => {
  const route = isModelId(id) ? request.routing.routesOf(id)[0] : undefined
  if (!route || id === null) {
    throw new TextProblem(404, 'model not found', { param: 'model', code: 'model_not_found' })
  }
  return toResponse(await forward(route.upstream, 'GetModel', `/models/${encodeURIComponent(id)}`, request, context))
}

/**
 * `GET /v1/models`: lists the models of all upstreams, in the order of the upstreams.
 *
 * Of each upstream it lists only the models that are routed there. It omits an upstream that fails, unless all
 * fail. With a single upstream it forwards the response as it is.
 */
export const listModels = async (request: ModelsRequest, context: GenerationContext): Promise<Response> => {
  const { upstreams } = request.routing
  const [first, ...others] = upstreams
  const listFrom = (upstream: TextUpstream) => forward(upstream, 'ListModels', '/models', request, context)
  if (first && others.length === 0) return toResponse(await listFrom(first))
  const results = await Promise.allSettled(upstreams.map(listFrom))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed && !results.some((result) => result.status === 'fulfilled')) throw failed.reason
  const models = results.flatMap((result, index) =>
    result.status === 'fulfilled' ? servedBy(request.routing, index, result.value.bytes) : [],
  )
  return new Response(`{"object":"list","data":[${models.map(({ raw }) => raw).join(',')}]}`, {
    headers: { 'content-type': 'application/json' },
  })
}

/** The models in an upstream's list that are routed to this upstream. */
const servedBy = (routing: ModelRouting, index: number, bytes: Uint8Array): readonly Json[] =>
  (objectIn(bytes).get('data')?.elements() ?? []).filter((model) => {
    const id = model.get('id')?.string()
    return id !== undefined && routing.routesOf(id)[0]?.upstream === routing.upstreams[index]
  })

/**
 * Whether a string may be a model id, which may contain slashes. It excludes strings that a second URL decoding would
 * turn into another path.
 */
const isModelId = (id: string | null): id is string =>
  id !== null && /^[^\\?#%\p{Cc}]{1,256}$/u.test(id) && !id.split('/').some((part) => /^\.*$/.test(part))

const forward = async (
  upstream: TextUpstream,
  action: 'ListModels' | 'GetModel',
  path: string,
  { request, arrivedAt }: ModelsRequest,
  { client, clock, timeoutMs, maxResponseBytes }: GenerationContext,
) => {
  using deadline = new Deadline({ clock, at: arrivedAt + timeoutMs, caller: request.signal })
  const { response, headers } = await client({
    upstream,
    action,
    path,
    headers: request.headers,
    signal: deadline.signal,
  })
  const { bytes } = await readResponse(response, upstream, maxResponseBytes)
  objectIn(bytes)
  return { status: response.status, headers, bytes }
}

const objectIn = (bytes: Uint8Array): Json => {
  try {
    const json = readJson(bytes, responseLimits)
    if (json.isObject) return json
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new UpstreamInvalidError('the response is not a JSON object')
}
