import { disconnectionOf } from '../../shared/http/disconnection.ts'
import { noStoreText } from '../../shared/http/no-store.ts'
import { permitsModel } from '../../shared/identity/models.ts'
import { composeArray, type Json, type MemberChange, toJson } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { toResponse, UpstreamInvalidError, UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import { modelNotFound } from '../models/permitted.ts'
import type { ModelRoute, ModelRouting, TextUpstream } from '../models/routing.ts'
import { readJsonObject, readResponse } from '../upstream/client.ts'
import { hasNoRoute } from '../upstream/learnt-capabilities.ts'
import type { GenerationContext } from './call.ts'
import { Deadline } from './deadline.ts'

interface ModelsRequest {
  readonly request: Request
  readonly arrivedAt: number
  /** See `Identity.models`. Others do not exist for the caller. */
  readonly models: readonly string[] | undefined
}

interface ModelsContext extends GenerationContext {
  readonly routing: ModelRouting
}

/**
 * `GET /v1/models/{id}`: the model as its upstream describes it, with what the configuration adds.
 *
 * If the upstream has no such route, or does not know the model there, its list decides. A model that only the
 * configuration names exists too. Throws TextProblem 404, and the errors of the upstream.
 */
export const getModel = async (
  { id: name, ...request }: ModelsRequest & { readonly id: string | null },
  context: ModelsContext,
): Promise<Response> => {
  const isPermitted = isModelId(name) && permitsModel(request.models, name)
  const route = isPermitted ? context.routing.routesOf(name)[0] : undefined
  if (!route || name === null) throw modelNotFound()
  const id = route.id ?? name
  try {
    const path = `/models/${encodeURIComponent(id)}`
    const found = await forward(route.upstream, 'GetModel', path, request, context)
    const described = describeModel(found.json, name, route)
    return described === found.json ? toResponse(found) : noStoreText(described.raw)
  } catch (error) {
    if (!mayBeListed(error)) throw error
    const listed = await findListed(id, route, request, context)
    if (listed || route.model) return noStoreText(describeModel(listed, name, route).raw)
    throw error instanceof UpstreamRejectedError && !hasNoRoute(error, id) ? error : modelNotFound()
  }
}

/** Whether an upstream may have no route for a single model. Some respond with a page to every path. */
const mayBeListed = (error: unknown): boolean =>
  error instanceof UpstreamInvalidError || (error instanceof Problem && [404, 405, 501].includes(error.status))

/** The model in the upstream's list. For a model of the configuration, an upstream without a list is no error. */
const findListed = async (
  id: string,
  route: ModelRoute,
  request: ModelsRequest,
  context: GenerationContext,
): Promise<Json | undefined> => {
  try {
    const { json } = await forward(route.upstream, 'ListModels', '/models', request, context)
    return json
      .get('data')
      ?.elements()
      .find((model) => model.get('id')?.string() === id)
  } catch (error) {
    if (route.model || mayBeListed(error)) return undefined
    throw error
  }
}

/**
 * `GET /v1/models`: lists the models of all upstreams, in the order of the upstreams.
 *
 * Of each upstream it lists the models that are routed there, by the names that callers use, and those that the
 * configuration names, even if the upstream does not list them or fails. It throws the error of the first upstream if
 * all fail. A single upstream without configured models: its response, as it is.
 */
export const listModels = async (request: ModelsRequest, context: ModelsContext): Promise<Response> => {
  const { upstreams } = context.routing
  const [first, ...others] = upstreams
  const listFrom = (upstream: TextUpstream) => forward(upstream, 'ListModels', '/models', request, context)
  if (first && others.length === 0 && !first.models) return withPermitted(await listFrom(first), request.models)
  const results = await Promise.allSettled(upstreams.map(listFrom))
  const failed = results.find((result) => result.status === 'rejected')
  const isUsable = (result: (typeof results)[number], index: number) =>
    result.status === 'fulfilled' || (upstreams[index]?.models !== undefined && mayBeListed(result.reason))
  if (failed && !results.some(isUsable)) throw failed.reason
  const models = results.flatMap((result, index) =>
    listedModels(
      context.routing,
      upstreams[index] as TextUpstream,
      result.status === 'fulfilled' ? (result.value.json.get('data')?.elements() ?? []) : [],
    ),
  )
  const permitted = models.filter(isPermitted(request.models))
  return noStoreText(`{"object":"list","data":[${permitted.map(({ raw }) => raw).join(',')}]}`)
}

const isPermitted =
  (models: ModelsRequest['models']) =>
  (model: Json): boolean =>
    models === undefined || permitsModel(models, model.get('id')?.string() ?? '')

/** The list of an upstream, as it is for a credential that may use all models. */
const withPermitted = (found: Forwarded, models: ModelsRequest['models']): Response => {
  if (models === undefined) return toResponse(found)
  const data = found.json.get('data')?.elements().filter(isPermitted(models)) ?? []
  return noStoreText(found.json.with('data', composeArray(data)).raw)
}

/**
 * Whether a string may be a model id, which may contain slashes, also at its start. It excludes strings that a second
 * URL decoding would turn into another path.
 */
const isModelId = (id: string | null): id is string =>
  id !== null &&
  /^[^\\?#%\p{Cc}]{1,256}$/u.test(id) &&
  !id
    .replace(/^\//, '')
    .split('/')
    .some((part) => /^\.*$/.test(part))

/** Decodes the rest of a path. Null if it is not valid. */
export const decodePath = (path: string): string | null => {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

type Forwarded = Awaited<ReturnType<typeof forward>>

const forward = async (
  upstream: TextUpstream,
  action: 'ListModels' | 'GetModel',
  path: string,
  { request, arrivedAt }: Pick<ModelsRequest, 'request' | 'arrivedAt'>,
  { client, clock, timeoutMs, maxResponseBytes }: GenerationContext,
) => {
  using deadline = new Deadline({ clock, at: arrivedAt + timeoutMs, caller: disconnectionOf(request) })
  const { response, headers } = await client({
    upstream,
    action,
    path,
    headers: request.headers,
    signal: deadline.signal,
  })
  const { bytes } = await readResponse(response, upstream, maxResponseBytes)
  return { status: response.status, headers, bytes, json: await readJsonObject(bytes) }
}

/**
 * The models of an upstream for callers: those of its own list that are routed to it, then those that only the
 * configuration names. Each is listed once, under the name or names that callers use.
 */
const listedModels = (routing: ModelRouting, upstream: TextUpstream, models: readonly Json[]): readonly Json[] => {
  const configured = new Map<string, ModelRoute>()
  for (const [name, [route]] of routing.named) if (route?.upstream === upstream) configured.set(name, route)
  const namesOf = Map.groupBy(configured.keys(), (name) => configured.get(name)?.model?.id)
  const listed = new Map<string, Json>()
  for (const model of models) {
    const id = model.get('id')?.string()
    if (id === undefined) continue
    const names = namesOf.get(id) ?? (routing.routesOf(id)[0]?.upstream === upstream ? [id] : [])
    for (const name of names)
      if (!listed.has(name)) listed.set(name, describeModel(model, name, configured.get(name) ?? { upstream }))
  }
  for (const [name, route] of configured) if (!listed.has(name)) listed.set(name, describeModel(undefined, name, route))
  return [...listed.values()]
}

/**
 * A model for callers: what the upstream says about it, under the name that callers use, and what the configuration
 * says. Returns the same object if nothing changes.
 *
 * Fields of other vendors have these names: `context_length` (OpenRouter) and `max_completion_tokens` (Groq).
 */
const describeModel = (
  described: Json | undefined,
  name: string,
  { id, model, upstream, ...limits }: ModelRoute,
): Json => {
  const changes: MemberChange[] = []
  if (!described || id !== undefined) changes.push(['id', toJson(name)])
  const owner = model?.ownedBy ?? (described?.get('owned_by') ? undefined : upstream.name)
  if (owner !== undefined) changes.push(['owned_by', toJson(owner)])
  if (model?.contextLength !== undefined) changes.push(['context_length', toJson(model.contextLength)])
  if (limits.maxTokens !== undefined) changes.push(['max_completion_tokens', toJson(limits.maxTokens)])
  return (described ?? toJson({ id: name, object: 'model' })).edit(changes)
}
