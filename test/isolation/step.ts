import fc from 'fast-check'
import { type FaultName, faults } from './faults.ts'
import type { Fixture } from './fixture.ts'
import { hostileText } from './hostile-text.ts'
import { names } from './list-request.ts'
import type { Model, ModelAsset, ModelGroup } from './model.ts'
import { SequenceStep } from './sequence-step.ts'

type Act<Parameters> = (parameters: Parameters, model: Model, fixture: Fixture) => Promise<void>

export const step = <Parameters>(
  name: string,
  parameters: fc.Arbitrary<Parameters>,
  act: Act<Parameters>,
): fc.Arbitrary<fc.AsyncCommand<Model, Fixture>> =>
  fc.tuple(parameters, fc.constantFrom(0, 0, 400, 1_000, 4_000)).map(
    ([given, tick]) =>
      new SequenceStep<Model, Fixture>(name, { ...given, tick }, async (model, fixture) => {
        fixture.tick(tick)
        await act(given, model, fixture)
        model.checkUpstream()
      }),
  )

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
