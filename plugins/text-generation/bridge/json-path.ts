import { TextProblem } from '../problem.ts'

/** Path of a value in a Responses request. An error names it. */
export class JsonPath {
  /** Model of the request. */
  readonly model: string
  /** For example `tools[0].type`. Empty for the request itself. */
  readonly path: string

  constructor(model: string, path = '') {
    this.model = model
    this.path = path
  }

  /** The path of a member or an element. */
  at(step: string | number): JsonPath {
    if (typeof step === 'number') return new JsonPath(this.model, `${this.path}[${step}]`)
    return new JsonPath(this.model, this.path === '' ? step : `${this.path}.${step}`)
  }

  /** The error for a value that a chat completion cannot express. @param value the value, if the message should quote it */
  unsupported(value?: string): TextProblem {
    const subject = value === undefined ? this.path : `${this.path} '${value}'`
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
