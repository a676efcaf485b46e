import { JsonBody, readBytes, readJsonBody } from '../shared/body.ts'
import { readId } from '../shared/id.ts'
import { type Json, toJson } from '../shared/json.ts'
import { Problem } from '../shared/problem.ts'
import { type Answer, Invalid } from '../upstream-proxy/index.ts'

/** The body of a creation; one that is absent counts as `{}`. Throws Problem 400 and 413 as `readJsonBody` does. */
export const readTaskBody = async (request: Request, maxBytes: number): Promise<JsonBody> => {
  const bytes = await readBytes(request, maxBytes)
  if (!bytes) throw new Problem(413, 'request body is too large')
  if (bytes.length === 0) return new JsonBody(toJson({}))
  return readJsonBody(new Request(request.url, { method: 'POST', body: bytes }), maxBytes)
}

/** What an upstream says, wrapped in `Result` or not: both have been seen. */
export const resultOf = ({ json }: Answer): Json => {
  const whole = json ?? toJson({})
  const inner = whole.get('Result')
  return inner?.isObject ? inner : whole
}

/** A group's id, where one is named: absent, null and empty are none. Throws Invalid for anything else that is no id. */
export const readGroup = (value: Json | undefined): string | undefined => {
  if (value === undefined || value.is('null') || value.string() === '') return undefined
  const id = readId(value.string())
  if (id === undefined) throw new Invalid('a group without a usable id')
  return id
}
