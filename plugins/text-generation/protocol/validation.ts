import type { Json } from '../../shared/json/json.ts'
import { TextProblem } from './problem.ts'

/** A field of a request, and its path, for example `messages[0].role`. */
export interface Field {
  readonly param: string
  /** Undefined when absent. `null` counts as absent: client libraries send it for optional fields without a value. */
  readonly json: Json | undefined
}

/** A field that is present. */
export interface PresentField extends Field {
  readonly json: Json
}

/** Throws TextProblem 400 for a field. */
export const rejectField = (param: string, what: string): never => {
  throw new TextProblem(400, `${param} ${what}`, { param })
}

/**
 * Reads a field of a request.
 *
 * Throws TextProblem 400 for a duplicate key: the gateway might read one of the two values and the upstream the other.
 */
export const fieldOf = (request: Json, key: string): Field => new Member(request, key)

/** Reads a field of an object in a request. Throws TextProblem 400 for a duplicate key. */
export const memberOf = (object: PresentField, key: string): Field => new Member(object.json, key, object)

/** Only errors need the path of a member, and a request has many of them. */
class Member implements Field {
  readonly json: Json | undefined
  readonly #key: string
  readonly #object: Field | undefined

  constructor(object: Json, key: string, within?: Field) {
    this.#key = key
    this.#object = within
    const values = object.all(key)
    if (values.length > 1) rejectField(this.param, 'is given more than once')
    const json = values[0]
    this.json = json?.is('null') ? undefined : json
  }

  get param(): string {
    return this.#object === undefined ? this.#key : `${this.#object.param}.${this.#key}`
  }
}

/** The elements of an array, as fields. */
export const elementsOf = (array: PresentField): readonly PresentField[] =>
  array.json.elements().map((element, index) => new Element(array, index, element))

/** The same of an element: a request may have 100,000. */
class Element implements PresentField {
  readonly json: Json
  readonly #array: Field
  readonly #index: number

  constructor(array: Field, index: number, json: Json) {
    this.#array = array
    this.#index = index
    this.json = json
  }

  get param(): string {
    return `${this.#array.param}[${this.#index}]`
  }
}

export const isPresent = (field: Field): field is PresentField => field.json !== undefined

/** Throws TextProblem 400 when the field is absent. */
export const requireField = (field: Field): PresentField =>
  isPresent(field) ? field : rejectField(field.param, 'is required')

/** Longer than any keyword or id of a protocol, in bytes of the JSON source. */
const maxWordBytes = 131_072

/**
 * A string that may be a keyword of the protocol or an id. Undefined for a longer string, which is not decoded, and for
 * any other value.
 */
export const shortStringOf = (json: Json | undefined): string | undefined =>
  json && json.byteLength <= maxWordBytes ? json.string() : undefined

// The functions below accept an absent field.

export const checkString = (field: Field): void => {
  if (field.json && !field.json.isString) rejectField(field.param, 'must be a string')
}

export const checkArray = (field: Field): void => {
  if (field.json && !field.json.isArray) rejectField(field.param, 'must be an array')
}

export const checkObject = (field: Field): void => {
  if (field.json && !field.json.isObject) rejectField(field.param, 'must be an object')
}

/** Whether the field is true; absent is false. */
export const readBoolean = (field: Field): boolean => {
  const { json } = field
  if (json && !json.is('true') && !json.is('false')) rejectField(field.param, 'must be a boolean')
  return json?.is('true') ?? false
}

/** Checks for an integer by value: `4096.0` and `1e3` are integers. */
export const checkInteger = (field: Field, min: number): void => {
  if (!field.json) return
  const number = numberOf(field.json)
  if (!Number.isInteger(number) || number < min) rejectField(field.param, `must be an integer of at least ${min}`)
}

/**
 * Checks how many responses a request asks for: upstreams read some values, such as texts, as other numbers than the
 * gateway, which reserves output for each.
 */
export const checkChoices = (request: Json): void => {
  checkInteger(fieldOf(request, 'n'), 1)
  checkInteger(fieldOf(request, 'best_of'), 1)
}

export const checkNumber = (field: Field, min: number, max: number): void => {
  if (!field.json) return
  const number = numberOf(field.json)
  if (!(number >= min && number <= max)) rejectField(field.param, `must be a number from ${min} to ${max}`)
}

/** NaN for what is not a number. */
const numberOf = (json: Json): number => (json.isNumber ? (json.value() as number) : Number.NaN)

/** Longest name of a model, in UTF-16 units. It fits into the key of a usage row, as the name of a video model does. */
const maxModelLength = 256

/** Reads `model`, which both protocols require. */
export const readModel = (request: Json): string => {
  const { param, json } = requireField(fieldOf(request, 'model'))
  if (!json.isString) rejectField(param, 'must be a string')
  const model = shortStringOf(json) ?? rejectField(param, 'is too long')
  if (model.length > maxModelLength) rejectField(param, 'is too long')
  return model === '' ? rejectField(param, 'must not be empty') : model
}
