import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { DocumentedOperation, DocumentedResponse, Specification } from '../../src/documentation/specification.ts'
import type { SentResponse } from './record-responses.ts'

/** Pages for browsers: the document does not describe them. */
const pages = /^\/(?:console(?:\/.*)?|openapi|openapi\/style\.css)$/

/**
 * What a test lets the OpenAPI document decide about the responses of its gateway.
 *
 * - `all`: everything.
 * - `own`: all but the fields of forwarded objects, because the test's upstream sends objects that no real one sends.
 * - `none`: nothing, because the test changes the gateway.
 */
export type CheckedParts = 'all' | 'own' | 'none'

/** Checks responses against an OpenAPI document. */
export interface ResponseChecker {
  /**
   * What is wrong with a response; empty: nothing.
   *
   * @param isForwarded whether the gateway has forwarded an error of the upstream: then status, body and headers are the upstream's. A route that
   *   forwards errors describes them with `default`.
   */
  problemsOf(response: SentResponse, isForwarded: boolean): readonly string[]
}

export const createResponseChecker = (document: Specification, extent: CheckedParts = 'all'): ResponseChecker => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({
    $id: 'document',
    ...withSchemas(document, extent === 'all' ? ownErrors : { ...ownErrors, ...anyObjects }),
  })
  const validators = new Map<string, ValidateFunction>()
  const paths = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]+')}/?$`),
    parameters: template.split('{').length,
  }))

  /** What is wrong with a value, by the schema at a JSON pointer in the document. */
  const mismatches = (pointer: readonly string[], value: unknown, what: string): readonly string[] => {
    const ref = `document#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
    const validate = validators.get(ref) ?? ajv.compile({ $ref: ref })
    validators.set(ref, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`)
  }

  const checkHeaders = (response: SentResponse, documented: DocumentedResponse, pointer: readonly string[]) =>
    Object.entries(documented.headers ?? {}).flatMap(([name, { required, schema }]) => {
      const value = response.headers[name]
      if (value === undefined) return (required ?? response.status >= 400) ? [`header ${name} is missing`] : []
      return mismatches(
        [...pointer, 'headers', name, 'schema'],
        schema?.type === 'integer' ? Number(value) : value,
        `header ${name}`,
      )
    })

  const checkEvents = (body: string, pointer: readonly string[]) =>
    body
      .split(/\r\n\r\n|\n\n|\r\r/)
      .slice(0, -1)
      .flatMap((event) => {
        const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'))
        const data = lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')
        // An event without data is none (https://html.spec.whatwg.org/multipage/server-sent-events.html).
        if (data === '' || data.trim() === '[DONE]') return []
        return mismatches([...pointer, 'itemSchema', 'properties', 'data', 'contentSchema'], parse(data), 'event')
      })

  const checkBody = (response: SentResponse, documented: DocumentedResponse, pointer: readonly string[]) => {
    const { content } = documented
    const { body, headers, method, status } = response
    if (body === undefined || method === 'HEAD') return []
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
    // Only the response to a change may have no body, and a stream whose client leaves before its first event.
    if (body === '' && type !== 'text/event-stream')
      return content && !pointer.includes('2XX') ? ['the body is empty'] : []
    const media = content?.[type]
    if (!media) return [`content type ${type || '(none)'} is not documented`]
    const place = [...pointer, 'content', type]
    if (type === 'text/event-stream') return checkEvents(body, place)
    if (!media.schema) return []
    return mismatches([...place, 'schema'], type === 'application/json' ? parse(body) : body, `body of ${status}`)
  }

  return {
    problemsOf(response, isForwarded) {
      const { method, target, status } = response
      // Without dot segments, as the router sees it. The server rejects a target that is no URL.
      const path = URL.parse(target, 'http://localhost')?.pathname ?? ''
      // The root leads to the console.
      if (pages.test(path) || (path === '/' && status === 307)) return []
      if (mayBeCached(response, path)) return ['the response may be cached']
      // A preflight belongs to no operation.
      if (method === 'OPTIONS' && 'access-control-allow-methods' in response.headers) return []
      const [found] = paths.filter(({ pattern }) => pattern.test(path)).sort((a, b) => a.parameters - b.parameters)
      const name = method === 'HEAD' ? 'get' : method.toLowerCase()
      const operation: DocumentedOperation | undefined = found && document.paths[found.template]?.[name]
      if (!found || !operation) return unknownRoute(response, found !== undefined)
      const responses = operation.responses ?? {}
      if (isForwarded) return responses.default ? [] : ['an error of the upstream is not documented']
      const code = [String(status), `${String(status)[0]}XX`].find((each) => each in responses)
      const documented = code === undefined ? undefined : responses[code]
      if (code === undefined || !documented)
        return serverErrors.has(status) ? [] : [`status ${status} is not documented`]
      const pointer = ['paths', found.template, name, 'responses', code]
      return [...checkHeaders(response, documented, pointer), ...checkBody(response, documented, pointer)]
    },
  }
}

/** Whether a cache may store a response that is not public. A link to a file is its own key, and only the browser may store what it gives. */
const mayBeCached = ({ method, status, headers }: SentResponse, path: string): boolean => {
  const directives = headers['cache-control']?.split(', ') ?? []
  if (publicPaths.test(path) || directives.includes('no-store') || method === 'OPTIONS') return false
  // The server of the runtime writes it. No cache stores it without an explicit lifetime (RFC 9111 section 3).
  if (status === 431 && directives.length === 0) return false
  return !(/\/files\//.test(path) && status < 400 && directives.includes('private'))
}

/** The same for everybody. */
const publicPaths = /^\/(?:openapi\/json|api\/failure-advice(?:\/[^/]+)?)$/

/** Errors of the HTTP server about the connection, which no operation describes. */
const serverErrors: ReadonlySet<number> = new Set([404, 405, 408, 413, 417, 431, 501, 505])

/** A route that the document does not describe responds with an error: 405 with `Allow` if the path exists. */
const unknownRoute = ({ status, headers }: SentResponse, pathExists: boolean): readonly string[] => {
  if (status < 400) return ['the route is not documented']
  return pathExists && status === 405 && !headers.allow ? ['header allow is missing'] : []
}

/** The body of an error has to be the gateway's own. Those of the upstream are known by other means. */
const ownErrors = { UpstreamError: { not: {} } }

/** The objects that the upstream defines. */
const anyObjects = Object.fromEntries(
  [
    'Asset',
    'AssetGroup',
    'CreatedVerification',
    'VerificationState',
    'ChatCompletion',
    'ChatChunk',
    'Response',
    'ResponseEvent',
    'Model',
  ].map((title) => [title, {}]),
)

const withSchemas = (document: Specification, replaced: Readonly<Record<string, object>>): Specification => {
  const components = document.components as { readonly schemas: Readonly<Record<string, object>> }
  return { ...document, components: { ...components, schemas: { ...components.schemas, ...replaced } } }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
