import fc from 'fast-check'
import { SequenceStep } from '../sequence-step.ts'
import { type Fixture, retentionMs } from './fixture.ts'
import type { Model } from './model.ts'

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
    .map(
      ([given, tick]) =>
        new SequenceStep<Model, Fixture>(name, { ...given, tick }, async (model, fixture) => {
          await fixture.clock.pass(tick)
          // Objects of background responses that have ended.
          model.addNew(undefined)
          await act(given, model, fixture)
          fixture.emulator.faults.clear()
        }),
    )

export const user = fc.nat(2)
