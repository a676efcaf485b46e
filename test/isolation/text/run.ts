import fc from 'fast-check'
import { checkSequences, type RunResult, type Sequences } from '../check-sequences.ts'
import { create } from './create-step.ts'
import type { Fixture } from './fixture.ts'
import { Model } from './model.ts'
import {
  changeUpstream,
  chat,
  createConcurrently,
  reuseId,
  sendMalformedTarget,
  sendUnauthenticated,
} from './other-steps.ts'
import { cancel, get, list, remove } from './use-steps.ts'

export interface Run extends Sequences {
  readonly open: () => Promise<Fixture>
}

/** Up to 30 steps: of three users, of an unauthenticated client, and of somebody who changes the upstream directly. */
const sequences = (): fc.Arbitrary<Iterable<fc.AsyncCommand<Model, Fixture>>> =>
  fc.commands(
    [
      ...[create, create, create, create, create, create, create, create],
      ...[get, get, get, remove, cancel, cancel, list, list],
      ...[chat, sendMalformedTarget, sendUnauthenticated, changeUpstream, reuseId, createConcurrently],
    ],
    { maxCommands: 30, size: 'max' },
  )

/** Runs random sequences until one of them shows a violation. */
export const runSequences = async (run: Run): Promise<RunResult> => {
  await using fixture = await run.open()
  const property = fc.asyncProperty(sequences(), async (steps) => {
    await fixture.reset()
    const model = new Model(fixture)
    await fc.asyncModelRun(() => ({ model, real: fixture }), steps)
  })
  return await checkSequences(property, run)
}
