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
 * Reads a field of an object.
 *
 * Throws TextProblem 400 for a duplicate key: the gateway might read one of the two values and the upstream the other.
 */
export const fieldOf = (object: Json, key: string, within?: string): Field => {
  const param = within === undefined ? key : `${within}.${key}`
  const values = object.all(key)
  if (values.length > 1) rejectField(param, 'is given more than once')
  const [json] = values
  return { param, json: json?.is('null') ? undefined : json }
}

/** The elements of an array, as fields. */
export const elementsOf = (array: PresentField): readonly PresentField[] =>
  array.json.elements().map((element, index) => new Element(array, index, element))

/** Only errors need the path of an element, and a request may have 100,000. */
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

export const checkString = ({ param, json }: Field): void => {
  if (json && !json.isString) rejectField(param, 'must be a string')
}

export const checkArray = ({ param, json }: Field): void => {
  if (json && !json.isArray) rejectField(param, 'must be an array')
}

export const checkObject = ({ param, json }: Field): void => {
  if (json && !json.isObject) rejectField(param, 'must be an object')
}

/** Whether the field is true; absent is false. */
export const readBoolean = ({ param, json }: Field): boolean => {
  if (json && !json.is('true') && !json.is('false')) rejectField(param, 'must be a boolean')
  return json?.is('true') ?? false
}

/** Checks for an integer by value: `4096.0` and `1e3` are integers. */
export const checkInteger = ({ param, json }: Field, min: number): void => {
  if (!json) return
  const number = numberOf(json)
  if (!Number.isInteger(number) || number < min) rejectField(param, `must be an integer of at least ${min}`)
}

/**
 * Checks how many responses a request asks for: upstreams read some values, such as texts, as other numbers than the
 * gateway, which reserves output for each.
 */
export const checkChoices = (request: Json): void => {
  checkInteger(fieldOf(request, 'n'), 1)
  checkInteger(fieldOf(request, 'best_of'), 1)
}

export const checkNumber = ({ param, json }: Field, min: number, max: number): void => {
  if (!json) return
  const number = numberOf(json)
  if (!(number >= min && number <= max)) rejectField(param, `must be a number from ${min} to ${max}`)
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
