import { pathParts, unescaped } from '../paths.ts'
import type { Received } from '../shape.ts'
import { isJson, type Json } from './reader.ts'
import { TextRefusal } from './refusal.ts'

/** Where text generation lives. */
export const TEXT_PATH = '/v1'

/** Names of the calls of the text protocols. */
export type TextAction =
  | 'CreateChatCompletion'
  | 'ListModels'
  | 'GetModel'
  | 'CreateResponse'
  | 'GetResponse'
  | 'DeleteResponse'
  | 'CancelResponse'
  | 'ListInputItems'
  | 'CreateConversation'
  | 'GetConversation'
  | 'DeleteConversation'

/** Whether a target belongs to text generation. */
export function isText(target: string): boolean {
  return /^\/v1(?:[/?]|$)/.test(target)
}

interface Route {
  readonly action: TextAction
  /** of what the path names, unescaped; empty when it names nothing */
  readonly id: string
}

/** The actions of a path by their method. */
type Methods = Readonly<Record<string, TextAction>>

const RESPONSE: Methods = { GET: 'GetResponse', DELETE: 'DeleteResponse' }
const CONVERSATION: Methods = { GET: 'GetConversation', DELETE: 'DeleteConversation' }

interface Place {
  readonly methods: Methods
  readonly id: string
}

/** What is at a target; undefined when there is nothing. */
function placeOf(target: string): Place | undefined {
  const model = target.split('?')[0]?.match(/^\/v1\/models\/([^/]+)$/)?.[1]
  // ids of models have slashes in them
  if (model !== undefined) return { methods: { GET: 'GetModel' }, id: unescaped(model) }
  const [, collection, id = '', part, ...more] = pathParts(target)
  switch ([collection, id === '' ? '' : '{id}', part, ...more].filter(Boolean).join('/')) {
    case 'models':
      return { methods: { GET: 'ListModels' }, id }
    case 'chat/{id}':
      return id === 'completions' ? { methods: { POST: 'CreateChatCompletion' }, id: '' } : undefined
    case 'responses':
      return { methods: { POST: 'CreateResponse' }, id }
    case 'responses/{id}':
      return { methods: RESPONSE, id }
    case 'responses/{id}/cancel':
      return { methods: { POST: 'CancelResponse' }, id }
    case 'responses/{id}/input_items':
      return { methods: { GET: 'ListInputItems' }, id }
    case 'conversations':
      return { methods: { POST: 'CreateConversation' }, id }
    case 'conversations/{id}':
      return { methods: CONVERSATION, id }
    default:
      return undefined
  }
}

/** The action of a request; empty when it means none. */
export function actionOf({ method, target }: Received): TextAction | '' {
  return placeOf(target)?.methods[method] ?? ''
}

/** What a request means, after the checks that come before every other: key, path, method. */
export function admitted(request: Received, key: string): Route {
  const { method, target, headers } = request
  const given = headers.authorization ?? ''
  if (!/^Bearer +\S+$/i.test(given)) {
    const words = "You didn't provide an API key. Provide it in an Authorization header using Bearer auth."
    throw new TextRefusal(401, words, { code: 'invalid_api_key' })
  }
  if (given.replace(/^Bearer +/i, '') !== key) {
    throw new TextRefusal(401, 'Incorrect API key provided.', { code: 'invalid_api_key' })
  }
  const place = placeOf(target)
  if (place === undefined) {
    throw new TextRefusal(404, `Invalid URL (${method} ${target.split('?')[0]})`, { code: 'unknown_url' })
  }
  const { methods, id } = place
  const action = methods[method]
  if (action !== undefined) return { action, id }
  throw new TextRefusal(405, `Not allowed to ${method} on ${target.split('?')[0]}.`, {
    ...{ code: 'method_not_supported', headers: { allow: Object.keys(methods).join(', ') } },
  })
}

/** The JSON object that a body is. */
export function bodyOf({ headers, bytes }: Received): Json {
  const type = headers['content-type'] ?? ''
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    const words = `Unsupported content type: '${type}'. This API method only accepts 'application/json' requests.`
    throw new TextRefusal(415, words, { code: 'unsupported_content_type' })
  }
  const body = parsed(bytes)
  if (isJson(body)) return body
  throw new TextRefusal(
    400,
    'We could not parse the JSON body of your request. The body must be a JSON object in UTF-8.',
  )
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
