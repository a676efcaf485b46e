import type { Json } from '../shared/json.ts'
import { TextProblem } from './problem.ts'

/** A field of a request, and where it stands, for example `messages[0].role`. */
export interface Field {
  readonly param: string
  /** Undefined when absent. `null` is absent too: current client libraries send it for optional fields that were not given. */
  readonly json: Json | undefined
}

/** A field that is there. */
export interface Present extends Field {
  readonly json: Json
}

/** Refuses the request for one of its fields. */
export const refuseField = (param: string, what: string): never => {
  throw new TextProblem(400, `${param} ${what}`, { param })
}

/**
 * A field of an object. Whatever is read through this decides something, so it may stand there only once: of two the gateway would heed one and the
 * upstream perhaps the other.
 *
 * Throws TextProblem 400 when it is repeated.
 */
export const fieldOf = (object: Json, key: string, within?: string): Field => {
  const param = within === undefined ? key : `${within}.${key}`
  const values = object.all(key)
  if (values.length > 1) refuseField(param, 'is given more than once')
  const [json] = values
  return { param, json: json?.is('null') ? undefined : json }
}

/** The elements of an array, as fields. */
export const elementsOf = ({ param, json }: Present): readonly Present[] =>
  json.elements().map((element, index) => ({ param: `${param}[${index}]`, json: element }))

export const isPresent = (field: Field): field is Present => field.json !== undefined

/** The field, which has to be there. */
export const requireField = (field: Field): Present =>
  isPresent(field) ? field : refuseField(field.param, 'is required')

/** What no word or id of a protocol comes near, in bytes of JSON's own text. */
const maxWordBytes = 131_072

/** A string that may be one of the protocol's words, or an id. Undefined for what is longer, which is not even decoded, and for what is no string. */
export const wordOf = (json: Json | undefined): string | undefined =>
  json && json.byteLength <= maxWordBytes ? json.string() : undefined

// Optional fields: what is absent is fine.

export const checkString = ({ param, json }: Field): void => {
  if (json && !json.isString) refuseField(param, 'must be a string')
}

export const checkArray = ({ param, json }: Field): void => {
  if (json && !json.isArray) refuseField(param, 'must be an array')
}

export const checkObject = ({ param, json }: Field): void => {
  if (json && !json.isObject) refuseField(param, 'must be an object')
}

/** Whether the field is true; absent is false. */
export const readBoolean = ({ param, json }: Field): boolean => {
  if (json && !json.is('true') && !json.is('false')) refuseField(param, 'must be a boolean')
  return json?.is('true') ?? false
}

/** An integer by its value: `4096.0` and `1e3` are some. */
export const checkInteger = ({ param, json }: Field, min: number): void => {
  if (!json) return
  const number = numberOf(json)
  if (!Number.isInteger(number) || number < min) refuseField(param, `must be an integer of at least ${min}`)
}

export const checkNumber = ({ param, json }: Field, min: number, max: number): void => {
  if (!json) return
  const number = numberOf(json)
  if (!(number >= min && number <= max)) refuseField(param, `must be a number from ${min} to ${max}`)
}

/** NaN for what is not a number. */
const numberOf = (json: Json): number => (json.isNumber ? (json.value() as number) : Number.NaN)

/** The required string `model`, in both protocols. */
export const readModel = (request: Json): string => {
  const { param, json } = requireField(fieldOf(request, 'model'))
  if (!json.isString) refuseField(param, 'must be a string')
  const model = wordOf(json) ?? refuseField(param, 'is too long')
  return model === '' ? refuseField(param, 'must not be empty') : model
}
