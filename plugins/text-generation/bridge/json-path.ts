import { TextProblem } from '../problem.ts'

/** Where in a Responses request something stands, so that a refusal can name it. */
export class JsonPath {
  /** Model that the request is for. */
  readonly model: string
  /** For example `tools[0].type`. Empty: the request itself. */
  readonly path: string

  constructor(model: string, path = '') {
    this.model = model
    this.path = path
  }

  /** A member or an element of what stands here. */
  at(step: string | number): JsonPath {
    if (typeof step === 'number') return new JsonPath(this.model, `${this.path}[${step}]`)
    return new JsonPath(this.model, this.path === '' ? step : `${this.path}.${step}`)
  }

  /** The refusal of something that a chat completion cannot do or say. @param value what stands here, where it says more than the path */
  unsupported(value?: string): TextProblem {
    const what = value === undefined ? this.path : `${this.path} '${value}'`
    return new TextProblem(
      400,
      `${what} cannot be used with model ${this.model}, whose upstream offers chat completions only`,
      { param: this.path, code: 'unsupported_parameter' },
    )
  }

  /** The refusal of something that is not as the protocol has it. @param rule for example `must be an object` */
  invalid(rule: string): TextProblem {
    return new TextProblem(400, `${this.path} ${rule}`, { param: this.path })
  }
}
