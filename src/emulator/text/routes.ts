import type { ReceivedRequest } from '../action.ts'
import type { TextAction } from '../action-names.ts'
import { pathParts, splitTarget, unescaped } from '../shared/paths.ts'
import { isJson, type Json } from '../shared/reader.ts'
import { OpenAIError } from './openai-error.ts'

/** Base path of text generation. */
export const textPath = '/v1'

/** Base path of text generation as servers have it that know chat completions only. */
export const chatOnlyPath = '/chat-only/v1'

/** Whether a request target belongs to text generation. */
export const isText = (target: string): boolean => /^(?:\/chat-only)?\/v1(?:[/?]|$)/.test(target)

const isChatOnly = (target: string): boolean => target.startsWith(chatOnlyPath)

interface Route {
  readonly action: TextAction
  /** id in the path, percent-decoded; empty when the path has none */
  readonly id: string
  /** whether it came to the server that knows chat completions only */
  readonly chatOnly: boolean
}

/** The actions of a path by HTTP method. */
type Methods = Readonly<Record<string, TextAction>>

const response: Methods = { GET: 'GetResponse', DELETE: 'DeleteResponse' }
const conversation: Methods = { GET: 'GetConversation', DELETE: 'DeleteConversation' }

/** Actions whose names stand where the id of a response would. */
const responseActions: Readonly<Record<string, Methods | undefined>> = {
  compact: { POST: 'CompactResponse' },
  input_tokens: { POST: 'CountInputTokens' },
}

interface Resource {
  readonly methods: Methods
  readonly id: string
}

/** The actions of a server that knows chat completions only. Such servers often have no route for one model. */
const chatOnlyActions: readonly TextAction[] = [
  'ListModels',
  'CreateChatCompletion',
  'CreateCompletion',
  'CreateEmbedding',
]

/** The resource of a request target; undefined when no path matches. */
const resourceOf = (target: string): Resource | undefined => {
  const resource = fullResourceOf(target.replace(/^\/chat-only(?=\/)/, ''))
  const actions = Object.values(resource?.methods ?? {})
  return isChatOnly(target) && !actions.some((action) => chatOnlyActions.includes(action)) ? undefined : resource
}

const fullResourceOf = (target: string): Resource | undefined => {
  const model = splitTarget(target)[0].match(/^\/v1\/models\/([^/]+)$/)?.[1]
  // ids of models can contain slashes (percent-encoded)
  if (model !== undefined) return { methods: { GET: 'GetModel' }, id: unescaped(model) }
  const [, collection, id = '', part, ...more] = pathParts(target)
  switch ([collection, id === '' ? '' : '{id}', part, ...more].filter(Boolean).join('/')) {
    case 'models':
      return { methods: { GET: 'ListModels' }, id }
    case 'chat/{id}':
      return id === 'completions' ? { methods: { POST: 'CreateChatCompletion' }, id: '' } : undefined
    case 'completions':
      return { methods: { POST: 'CreateCompletion' }, id }
    case 'embeddings':
      return { methods: { POST: 'CreateEmbedding' }, id }
    case 'responses':
      return { methods: { POST: 'CreateResponse' }, id }
    case 'responses/{id}':
      return { methods: { ...response, ...responseActions[id] }, id }
    case 'responses/{id}/cancel':
      return { methods: { POST: 'CancelResponse' }, id }
    case 'responses/{id}/input_items':
      return { methods: { GET: 'ListInputItems' }, id }
    case 'conversations':
      return { methods: { POST: 'CreateConversation' }, id }
    case 'conversations/{id}':
      return { methods: conversation, id }
    default:
      return undefined
  }
}

/** The action of a request; empty when no action matches. */
export const actionOf = ({ method, target }: ReceivedRequest): TextAction | '' =>
  resourceOf(target)?.methods[method] ?? ''

/** Checks key, path and method of a request, in this order, and returns its action. Throws 401, 404 or 405. */
export const authorize = (request: ReceivedRequest, key: string): Route => {
  const { method, target, headers } = request
  const given = headers.authorization ?? ''
  if (!/^Bearer +\S+$/i.test(given)) {
    const errorMessage = "You didn't provide an API key. Provide it in an Authorization header using Bearer auth."
    throw new OpenAIError(401, errorMessage, { code: 'invalid_api_key' })
  }
  if (given.replace(/^Bearer +/i, '') !== key) {
    throw new OpenAIError(401, 'Incorrect API key provided.', { code: 'invalid_api_key' })
  }
  const chatOnly = isChatOnly(target)
  const resource = resourceOf(target)
  if (resource === undefined) {
    // what web frameworks answer by themselves
    if (chatOnly) throw new OpenAIError(404, 'Not Found', { body: { detail: 'Not Found' } })
    throw new OpenAIError(404, `Invalid URL (${method} ${splitTarget(target)[0]})`, { code: 'unknown_url' })
  }
  const { methods, id } = resource
  const action = methods[method]
  if (action !== undefined) return { action, id, chatOnly }
  throw new OpenAIError(405, `Not allowed to ${method} on ${splitTarget(target)[0]}.`, {
    ...{ code: 'method_not_supported', headers: { allow: Object.keys(methods).join(', ') } },
    ...(chatOnly ? { body: { detail: 'Method Not Allowed' } } : {}),
  })
}

/** Parses the JSON object in the body. Throws 415 for another content type, 400 for invalid JSON. */
export const bodyOf = ({ headers, bytes }: ReceivedRequest): Json => {
  const type = headers['content-type'] ?? ''
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    const errorMessage = `Unsupported content type: '${type}'. This API method only accepts 'application/json' requests.`
    throw new OpenAIError(415, errorMessage, { code: 'unsupported_content_type' })
  }
  const body = parsed(bytes)
  if (isJson(body)) return body
  throw new OpenAIError(
    400,
    'We could not parse the JSON body of your request. The body must be a JSON object in UTF-8.',
  )
}

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
