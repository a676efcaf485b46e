import fc from 'fast-check'
import { type FaultName, faults } from './faults.ts'
import type { Fixture } from './fixture.ts'
import { hostileText } from './hostile-text.ts'
import { names } from './list-request.ts'
import type { Model, ModelAsset, ModelGroup } from './model.ts'

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
    fixture.tick(this.#parameters.tick)
    await this.#act(this.#parameters, model, fixture)
    model.checkUpstream()
  }

  toString(): string {
    const short = (_key: string, value: unknown) => (typeof value === 'string' ? value.slice(0, 40) : value)
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
    .tuple(parameters, fc.constantFrom(0, 0, 400, 1_000, 4_000))
    .map(([given, tick]) => new Step(name, { ...given, tick }, act))

export const user = fc.nat(2)
export const name = fc.oneof(
  { arbitrary: fc.constantFrom<string>(...names), weight: 8 },
  { arbitrary: hostileText(), weight: 2 },
)
export const fault = fc.oneof(
  { arbitrary: fc.constant<FaultName>('none'), weight: 4 },
  { arbitrary: fc.constantFrom(...(Object.keys(faults) as FaultName[])), weight: 1 },
)

export const ownGroup = (model: Model, user: number, id: string): ModelGroup | undefined =>
  model.ownsGroup(user, id) ? model.groups.get(id) : undefined

export const ownAsset = (model: Model, user: number, id: string): ModelAsset | undefined =>
  model.ownsAsset(user, id) ? model.assets.get(id) : undefined
