import type { Json, Members } from '../../../shared/json/json.ts'
import { nonNullMember } from '../../../shared/json/json.ts'
import { TextProblem } from '../../protocol/problem.ts'

/** Path of a value in a Responses request. An error names it. */
export class JsonPath {
  /** Model of the request. */
  readonly model: string
  readonly #outer: JsonPath | undefined
  readonly #step: string | number

  constructor(model: string, outer?: JsonPath, step: string | number = '') {
    this.model = model
    this.#outer = outer
    this.#step = step
  }

  /** For example `tools[0].type`. Empty for the request itself. Only errors need it. */
  get path(): string {
    const outer = this.#outer?.path ?? ''
    if (typeof this.#step === 'number') return `${outer}[${this.#step}]`
    return outer === '' ? this.#step : `${outer}.${this.#step}`
  }

  /** The path of a member or an element. */
  at(step: string | number): JsonPath {
    return new JsonPath(this.model, this, step)
  }

  /**
   * The error for a value that a chat completion cannot express.
   *
   * @param value the value, if the message should quote it: up to 100 characters
   */
  unsupported(value?: string): TextProblem {
    const subject = value === undefined ? this.path : `${this.path} '${value.slice(0, 100).toWellFormed()}'`
    return new TextProblem(
      400,
      `${subject} cannot be used with model ${this.model}, whose upstream offers chat completions only`,
      { param: this.path, code: 'unsupported_parameter' },
    )
  }

  /** The error for an invalid value. @param rule for example `must be an object` */
  invalid(rule: string): TextProblem {
    return new TextProblem(400, `${this.path} ${rule}`, { param: this.path })
  }
}

/** The members whose keys are not in `known`. The bridge passes them on unchanged. */
export const otherMembers = (json: Json, known: readonly string[]): Members => {
  const others = json.members().filter(({ key }) => !known.includes(key))
  return others.length === 0 ? noMembers : Object.fromEntries(others.map(({ key, value }) => [key, value]))
}

const noMembers: Members = {}

/** The member, which must be a string. Throws TextProblem 400 otherwise. */
export const requireString = (json: Json, key: string, path: JsonPath): Json => {
  const value = nonNullMember(json, key)
  if (!value?.isString) throw path.at(key).invalid('must be a string')
  return value
}

/**
 * Throws TextProblem 400 for members that a chat completion cannot express. `null` passes.
 *
 * @param harmless values that pass, as JSON text, because they have no effect
 */
export const rejectMembers = (
  json: Json,
  keys: readonly string[],
  path: JsonPath,
  harmless: readonly string[] = [],
): void => {
  for (const key of keys) {
    const value = nonNullMember(json, key)
    if (value && !harmless.includes(JSON.stringify(value.value()))) throw path.at(key).unsupported(value.string())
  }
}
