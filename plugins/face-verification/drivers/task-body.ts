import { JsonBody, readBytes, readJsonBody } from '../../shared/http/body/body.ts'
import { readId } from '../../shared/id.ts'
import { type Json, toJson } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { UpstreamInvalidError, type UpstreamResponse } from '../../upstream-proxy/index.ts'

/**
 * Reads the body of the POST route; an empty body counts as `{}`. Throws Problem 400 and 413 as `readJsonBody` does.
 */
export const readTaskBody = async (request: Request, maxBytes: number): Promise<JsonBody> => {
  const bytes = await readBytes(request, maxBytes)
  if (!bytes) throw new Problem(413, 'request body is too large')
  if (bytes.length === 0) return new JsonBody(toJson({}))
  return readJsonBody(new Request(request.url, { method: 'POST', body: bytes }), maxBytes)
}

/**
 * The result in an upstream's response: its `Result` object where there is one, else the whole body. Upstreams send
 * both shapes.
 */
export const resultOf = ({ json }: UpstreamResponse): Json => {
  const whole = json ?? toJson({})
  const inner = whole.get('Result')
  return inner?.isObject ? inner : whole
}

/**
 * Reads a group id. Undefined when it is absent, null or empty. Throws UpstreamInvalidError for any other value that is
 * not a usable id.
 */
export const readGroup = (value: Json | undefined): string | undefined => {
  if (value === undefined || value.is('null') || value.string() === '') return undefined
  const id = readId(value.string())
  if (id === undefined) throw new UpstreamInvalidError('a group without a usable id')
  return id
}
