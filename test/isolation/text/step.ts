import fc from 'fast-check'
import { type Fixture, retentionMs } from './fixture.ts'
import type { Model } from './model.ts'

/** One step of a sequence. It works with every state of the model. */
class Step<Parameters> implements fc.AsyncCommand<Model, Fixture> {
  readonly #name: string
  readonly #parameters: Parameters & { readonly tick: number }
  readonly #act: Act<Parameters>

  constructor(name: string, parameters: Parameters & { readonly tick: number }, act: Act<Parameters>) {
    this.#name = name
    this.#parameters = parameters
    this.#act = act
  }

  check(): boolean {
    return true
  }

  async run(model: Model, fixture: Fixture): Promise<void> {
    await fixture.clock.pass(this.#parameters.tick)
    // Objects of background responses that have ended.
    model.addNew(undefined)
    await this.#act(this.#parameters, model, fixture)
    fixture.emulator.faults.clear()
  }

  toString(): string {
    const short = (_key: string, value: unknown) => (typeof value === 'string' ? value.slice(0, 60) : value)
    return `\n${this.#name} ${JSON.stringify(this.#parameters, short)}`
  }
}

type Act<Parameters> = (parameters: Parameters, model: Model, fixture: Fixture) => Promise<void>

export const step = <Parameters>(
  name: string,
  parameters: fc.Arbitrary<Parameters>,
  act: Act<Parameters>,
): fc.Arbitrary<fc.AsyncCommand<Model, Fixture>> =>
  fc
    .tuple(
      parameters,
      fc.oneof(
        { arbitrary: fc.constantFrom(0, 0, 400, 2_500), weight: 30 },
        { arbitrary: fc.constant(retentionMs), weight: 1 },
      ),
    )
    .map(([given, tick]) => new Step(name, { ...given, tick }, act))

export const user = fc.nat(2)
