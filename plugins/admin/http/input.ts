import { readJsonRequest, sendsBody } from '../../shared/http/body/body.ts'
import { isUserId } from '../../shared/identity/identify.ts'
import { repeatsKey } from '../../shared/json/json.ts'
import { fault, type Input } from '../fields.ts'

/** Longest body: a token with all its models and limits has half of it. */
const maxBodyBytes = 262_144

/** The fields of a request body, and its bytes. */
export interface BodyInput {
  readonly input: Input
  readonly bytes: Uint8Array
}

/**
 * Reads the fields of a JSON body. A request without a body has none. Throws Problem 400, 413 and 415 as
 * `readJsonRequest` does, and for a field that stands twice: readers do not agree on which counts.
 */
export const readInput = async (request: Request): Promise<BodyInput> => {
  if (!sendsBody(request)) return { input: {}, bytes: new Uint8Array() }
  const { json, bytes } = await readJsonRequest(request, maxBodyBytes)
  if (repeatsKey(json)) throw fault('', 'a field stands twice in the request body')
  return { input: { ...(json.value() as Input) }, bytes }
}

/** Reads query parameters. An empty one counts as absent. Throws Problem 400 for unknown and repeated ones. */
export const readQuery = (request: Request, names: readonly string[]): Readonly<Record<string, string>> => {
  const query = new URLSearchParams(request.url.split('?').slice(1).join('?'))
  const read: Record<string, string> = {}
  for (const [name, value] of query) {
    if (!names.includes(name)) throw fault('', `unknown parameter: the parameters are ${names.join(', ')}`)
    // No database stores NUL.
    if (value.includes('\0')) throw fault(name, `${name} must not contain NUL`)
    if (read[name] !== undefined) throw fault(name, `${name} stands twice in the query`)
    if (value !== '' || name === 'group_by') read[name] = value
  }
  return read
}

/** The id in a path. What cannot be one is empty, which no object has. */
export const pathId = (params: Readonly<Record<string, string | undefined>>): string =>
  isUserId(params.id) ? params.id : ''
