import fc from 'fast-check'
import { keptMs, type World } from './fixture.ts'
import type { Model } from './model.ts'

/** One thing that somebody does, whatever the state it finds. */
class Step<Parameters> implements fc.AsyncCommand<Model, World> {
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

  async run(model: Model, world: World): Promise<void> {
    await world.clock.pass(this.#parameters.tick)
    // What ran in the background and has ended.
    model.account(undefined)
    await this.#act(this.#parameters, model, world)
    world.emulator.faults.clear()
  }

  toString(): string {
    const short = (_key: string, value: unknown) => (typeof value === 'string' ? value.slice(0, 60) : value)
    return `\n${this.#name} ${JSON.stringify(this.#parameters, short)}`
  }
}

type Act<Parameters> = (parameters: Parameters, model: Model, world: World) => Promise<void>

export const step = <Parameters>(
  name: string,
  parameters: fc.Arbitrary<Parameters>,
  act: Act<Parameters>,
): fc.Arbitrary<fc.AsyncCommand<Model, World>> =>
  fc
    .tuple(
      parameters,
      fc.oneof(
        { arbitrary: fc.constantFrom(0, 0, 400, 2_500), weight: 30 },
        { arbitrary: fc.constant(keptMs), weight: 1 },
      ),
    )
    .map(([given, tick]) => new Step(name, { ...given, tick }, act))

export const user = fc.nat(2)
