import { FieldProblem } from '../../../shared/field-problem.ts'
import { readBytes, readJsonBody } from '../../../shared/http/body/body.ts'
import { type Json, quoteUtf8 } from '../../../shared/json/json.ts'
import { Problem } from '../../../shared/problem.ts'
import { decodeUtf8 } from '../../../shared/text.ts'
import { notAForm, readForm } from './form.ts'

/** The value of a field: a text, a long text, or the bytes of a file. */
export type FieldValue = string | LongText | Uint8Array

/** A long text as a JSON string, which is not decoded, and about its length. */
export interface LongText {
  readonly json: Json
  readonly bytes: number
}

/** The fields of a request, by name. A member of an object has a name such as `input_reference.image_url`. */
export type Fields = ReadonlyMap<string, FieldValue>

/** About the length of the body of a native request. */
export const composedBytes = (fields: Fields): number => {
  let bytes = 0
  for (const value of fields.values()) {
    if (typeof value === 'string') bytes += value.length
    else bytes += value instanceof Uint8Array ? Math.ceil((value.length * 4) / 3) : value.bytes
  }
  return bytes
}

/** Bytes from which on a text is long: more than any but a data URL has. */
const maxTextBytes = 2 ** 18

export interface FieldsOptions {
  /** Names of the fields that the route has. */
  readonly names: readonly string[]
  readonly maxBodyBytes: number
}

/**
 * Reads the body of a request: a form (`multipart/form-data`, RFC 7578), as client libraries send it, or a JSON object.
 *
 * Throws Problem 413 above `maxBodyBytes`, and 400 for a body of another form, for a form with more than 32 parts, and
 * for a field that is unknown, given twice, or no text. A whole number in JSON counts as text, and null as absent.
 */
export const readFields = async (request: Request, { names, maxBodyBytes }: FieldsOptions): Promise<Fields> => {
  const type = request.headers.get('content-type') ?? ''
  const isForm = /^\s*multipart\/form-data\s*(?:;|$)/i.test(type)
  const entries = isForm
    ? await entriesOfForm(request, type, maxBodyBytes)
    : entriesOf((await readJsonBody(request, maxBodyBytes)).json)
  const fields = new Map<string, FieldValue>()
  for (const [name, value] of entries) {
    if (!names.includes(name)) throw unknownField(name)
    if (fields.has(name)) throw new FieldProblem(400, `${name} is given more than once`, { param: name })
    fields.set(name, value)
  }
  return fields
}

/** The text of a field; undefined if it is absent or empty. Throws FieldProblem 400 for a file, and for a long text. */
export const textField = (fields: Fields, name: string): string | undefined => {
  const value = fields.get(name)
  if (value === undefined || value === '') return undefined
  if (value instanceof Uint8Array) throw new FieldProblem(400, `${name} must be a string`, { param: name })
  if (typeof value !== 'string') throw new FieldProblem(400, `${name} is too long`, { param: name })
  return value
}

type Entries = Iterable<readonly [name: string, value: FieldValue]>

const entriesOfForm = async (request: Request, type: string, maxBodyBytes: number): Promise<Entries> => {
  const boundary = boundaryIn(type)
  if (boundary === undefined) throw notAForm()
  const bytes = await readBytes(request, maxBodyBytes)
  if (!bytes) throw new Problem(413, 'request body is too large')
  return (await readForm(bytes, boundary)).map(
    ({ name, isFile, bytes }) => [name.replaceAll(/\[([^[\]]*)\]/g, '.$1'), isFile ? bytes : textValue(bytes)] as const,
  )
}

const textValue = (bytes: Uint8Array): FieldValue =>
  bytes.length <= maxTextBytes ? decodeUtf8(bytes) : { json: quoteUtf8(bytes), bytes: bytes.length }

/** RFC 2046, section 5.1.1. */
const boundaryIn = (type: string): string | undefined => {
  const [, quoted, token] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]*))\s*(?:;|$)/i.exec(type) ?? []
  const boundary = quoted ?? token ?? ''
  return /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary) ? boundary : undefined
}

const entriesOf = (json: Json): Entries =>
  json
    .members()
    .flatMap(({ key, value }) =>
      value.isObject
        ? value.members().flatMap((member) => entryOf(`${key}.${member.key}`, member.value))
        : entryOf(key, value),
    )

const entryOf = (name: string, value: Json): (readonly [string, FieldValue])[] => {
  if (value.is('null')) return []
  if (value.isString && value.byteLength > maxTextBytes) return [[name, { json: value, bytes: value.byteLength }]]
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
