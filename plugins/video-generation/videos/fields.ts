import { Buffer } from 'node:buffer'
import { readBytes, readJsonBody } from '../../shared/body.ts'
import { FieldProblem } from '../../shared/field-problem.ts'
import type { Json } from '../../shared/json.ts'
import { Problem } from '../../shared/problem.ts'

/** The fields of a request, by name: texts and files. A member of an object has a name such as `input_reference.image_url`. */
export type Fields = ReadonlyMap<string, string | File>

export interface FieldsOptions {
  /** Names of the fields that the route has. */
  readonly names: readonly string[]
  readonly maxBodyBytes: number
}

/**
 * Reads the body of a request: a form (`multipart/form-data`, RFC 7578), as client libraries send it, or a JSON object.
 *
 * Throws Problem 413 above `maxBodyBytes`, and 400 for a body of another form, for a form with more than 32 parts, and for a field that is unknown, given
 * twice, or no text. A whole number in JSON counts as text, and null as absent.
 */
export const readFields = async (request: Request, { names, maxBodyBytes }: FieldsOptions): Promise<Fields> => {
  const type = request.headers.get('content-type') ?? ''
  const isForm = /^\s*multipart\/form-data\s*(?:;|$)/i.test(type)
  const entries = isForm
    ? await readForm(request, type, maxBodyBytes)
    : entriesOf((await readJsonBody(request, maxBodyBytes)).json)
  const fields = new Map<string, string | File>()
  for (const [name, value] of entries) {
    if (!names.includes(name)) throw unknownField(name)
    if (fields.has(name)) throw new FieldProblem(400, `${name} is given more than once`, { param: name })
    fields.set(name, value)
  }
  return fields
}

/** The text of a field; undefined if it is absent or empty. Throws FieldProblem 400 for a file. */
export const textField = (fields: Fields, name: string): string | undefined => {
  const value = fields.get(name)
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new FieldProblem(400, `${name} must be a string`, { param: name })
  return value
}

type Entries = Iterable<readonly [name: string, value: string | File]>

/** Each route has at most six fields. */
const maxParts = 32

const readForm = async (request: Request, type: string, maxBodyBytes: number): Promise<Entries> => {
  const boundary = boundaryOf(type)
  if (boundary === undefined) throw notAForm()
  const bytes = await readBytes(request, maxBodyBytes)
  if (!bytes) throw new Problem(413, 'request body is too large')
  checkParts(bytes, boundary)
  // The header has only the boundary that was checked.
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
  const form = await new Response(bytes, { headers }).formData().catch((cause: unknown) => {
    throw notAForm(cause)
  })
  return [...form].map(([name, value]) => [name.replaceAll(/\[([^[\]]*)\]/g, '.$1'), value] as const)
}

/** RFC 2046, section 5.1.1. */
const boundaryOf = (type: string): string | undefined => {
  const [, quoted, token] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]*))\s*(?:;|$)/i.exec(type) ?? []
  const boundary = quoted ?? token ?? ''
  return /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary) ? boundary : undefined
}

/**
 * Requires that a form has few parts and is complete, before it is parsed: the parsers of the runtimes accept any number of parts, and some a form
 * without its end.
 */
const checkParts = (bytes: Uint8Array<ArrayBuffer>, boundary: string): void => {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const delimiter = `--${boundary}`
  let parts = 0
  for (let at = body.indexOf(delimiter, 0, 'latin1'); at !== -1; ) {
    if (++parts > maxParts + 1) throw new Problem(400, `the form must have at most ${maxParts} parts`)
    const end = at + delimiter.length
    at = body.indexOf(delimiter, end, 'latin1')
    if (at === -1 && body.toString('latin1', end, end + 2) !== '--') throw notAForm()
  }
  if (parts === 0) throw notAForm()
}

const notAForm = (cause?: unknown) =>
  new Problem(400, 'request body is not a complete multipart/form-data form', { cause })

const entriesOf = (json: Json): Entries =>
  json
    .members()
    .flatMap(({ key, value }) =>
      value.isObject
        ? value.members().flatMap((member) => entryOf(`${key}.${member.key}`, member.value))
        : entryOf(key, value),
    )

const entryOf = (name: string, value: Json): (readonly [string, string])[] => {
  if (value.is('null')) return []
  const text = value.isNumber && /^\d+$/.test(value.raw) ? value.raw : value.string()
  if (text === undefined) throw new FieldProblem(400, `${shortened(name)} must be a string`, { param: shortened(name) })
  return [[name, text]]
}

const unknownField = (name: string) =>
  new FieldProblem(400, `unknown parameter: '${shortened(name)}'`, {
    param: shortened(name),
    code: 'unknown_parameter',
  })

/** A caller may send a name of any length. */
const shortened = (name: string): string => (name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}…`)

const maxNameLength = 128
