import { answerLimits, type Json, JsonError, readJson } from '../shared/json.ts'
import { toResponse, UpstreamInvalidError } from '../upstream-proxy/index.ts'
import type { GenerationContext } from './call.ts'
import { Deadline } from './deadline.ts'
import { TextProblem } from './problem.ts'
import { readAnswer } from './upstream/client.ts'
import { routeModel, type TextUpstream } from './upstream/model-routing.ts'

interface Asked {
  readonly upstreams: readonly TextUpstream[]
  readonly request: Request
  readonly arrivedAt: number
}

/** `GET /v1/models/{id}`, forwarded to where the model is served. */
export const getModel = async (
  { id, ...asked }: Asked & { readonly id: string | null },
  machinery: GenerationContext,
): Promise<Response> => {
  const served = isModelId(id) ? routeModel(asked.upstreams, id) : undefined
  if (!served || id === null) {
    throw new TextProblem(404, 'model not found', { param: 'model', code: 'model_not_found' })
  }
  return toResponse(await ask(served.upstream, 'GetModel', `/models/${encodeURIComponent(id)}`, asked, machinery))
}

/**
 * `GET /v1/models`, forwarded; of several upstreams each one's models that it serves, in the order of the list. An upstream that does not answer is left out, unless
 * it is the only one, or none does.
 */
export const listModels = async (asked: Asked, machinery: GenerationContext): Promise<Response> => {
  const [only, ...others] = asked.upstreams
  const askFor = (upstream: TextUpstream) => ask(upstream, 'ListModels', '/models', asked, machinery)
  if (only && others.length === 0) return toResponse(await askFor(only))
  const answers = await Promise.allSettled(asked.upstreams.map(askFor))
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (failed && !answers.some((answer) => answer.status === 'fulfilled')) throw failed.reason
  const models = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled' ? servedBy(asked.upstreams, index, answer.value.bytes) : [],
  )
  return new Response(`{"object":"list","data":[${models.map(({ raw }) => raw).join(',')}]}`, {
    headers: { 'content-type': 'application/json' },
  })
}

/** The models in an upstream's list that callers are sent there for. */
const servedBy = (upstreams: readonly TextUpstream[], index: number, bytes: Uint8Array): readonly Json[] =>
  (objectIn(bytes).get('data')?.elements() ?? []).filter((model) => {
    const id = model.get('id')?.string()
    return id !== undefined && routeModel(upstreams, id)?.upstream === upstreams[index]
  })

/** Model ids may hold slashes. What could be another path to whoever decodes the path once more is no id. */
const isModelId = (id: string | null): id is string =>
  id !== null && /^[^\\?#%\p{Cc}]{1,256}$/u.test(id) && !id.split('/').some((part) => /^\.*$/.test(part))

const ask = async (
  upstream: TextUpstream,
  action: 'ListModels' | 'GetModel',
  path: string,
  { request, arrivedAt }: Asked,
  { connection, clock, timeoutMs, maxResponseBytes }: GenerationContext,
) => {
  using deadline = new Deadline({ clock, at: arrivedAt + timeoutMs, caller: request.signal })
  const asked = { upstream, action, path, headers: request.headers, signal: deadline.signal }
  const { response, headers } = await connection(asked)
  const { bytes } = await readAnswer(response, upstream, maxResponseBytes)
  objectIn(bytes)
  return { status: response.status, headers, bytes }
}

const objectIn = (bytes: Uint8Array): Json => {
  try {
    const json = readJson(bytes, answerLimits)
    if (json.isObject) return json
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new UpstreamInvalidError('a list of models without a JSON object')
}
