import type { Received } from '../shape.ts'
import { isJson, type Json } from './reader.ts'
import { TextRefusal } from './refusal.ts'

/** Where text generation lives. */
export const TEXT_PATH = '/v1'

/** Names of the calls of the text protocols. */
export type TextAction = 'CreateChatCompletion' | 'CreateResponse' | 'ListModels' | 'GetModel'

/** Whether a target belongs to text generation. */
export function isText(target: string): boolean {
  return /^\/v1(?:[/?]|$)/.test(target)
}

interface Route {
  readonly method: 'GET' | 'POST'
  readonly action: TextAction
  /** of a model, unescaped */
  readonly id?: string
}

/** The route of a target; undefined when there is nothing. */
export function routeOf(target: string): Route | undefined {
  const path = (target.split('?')[0] ?? '').slice(TEXT_PATH.length)
  if (path === '/chat/completions') return { method: 'POST', action: 'CreateChatCompletion' }
  if (path === '/responses') return { method: 'POST', action: 'CreateResponse' }
  if (path === '/models') return { method: 'GET', action: 'ListModels' }
  const id = path.match(/^\/models\/([^/]+)$/)?.[1]
  return id === undefined ? undefined : { method: 'GET', action: 'GetModel', id: unescaped(id) }
}

/** The action of a request; empty when it means none. */
export function actionOf({ method, target }: Received): TextAction | '' {
  const route = routeOf(target)
  return route?.method === method ? route.action : ''
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
  const route = routeOf(target)
  if (route === undefined) {
    throw new TextRefusal(404, `Invalid URL (${method} ${target.split('?')[0]})`, { code: 'unknown_url' })
  }
  if (route.method === method) return route
  throw new TextRefusal(405, `Not allowed to ${method} on ${target.split('?')[0]}.`, {
    ...{ code: 'method_not_supported', headers: { allow: route.method } },
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

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
