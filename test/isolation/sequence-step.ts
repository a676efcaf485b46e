import type fc from 'fast-check'

/** One step of a sequence. It works with every state of the model, and a report shows it with its parameters. */
export class SequenceStep<Model extends object, Fixture> implements fc.AsyncCommand<Model, Fixture> {
  readonly #name: string
  readonly #parameters: object
  readonly run: (model: Model, fixture: Fixture) => Promise<void>

  constructor(name: string, parameters: object, run: (model: Model, fixture: Fixture) => Promise<void>) {
    this.#name = name
    this.#parameters = parameters
    this.run = run
  }

  check(): boolean {
    return true
  }

  toString(): string {
    const short = (_key: string, value: unknown) => (typeof value === 'string' ? value.slice(0, 60) : value)
    return `\n${this.#name} ${JSON.stringify(this.#parameters, short)}`
  }
}
