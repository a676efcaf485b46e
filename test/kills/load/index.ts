import { type Random, randomFrom } from '../../usage-limits/money/random.ts'
import type { Person } from '../person.ts'
import type { KillWorld } from '../world.ts'
import { generationSteps } from './generation.ts'
import { librarySteps } from './library.ts'
import { operatorSteps } from './operators.ts'
import { peopleSteps } from './people.ts'
import { createStep, nothingMade, type Step } from './step.ts'

type Steps = readonly (readonly [string, number, Step])[]

const personal: Steps = [...librarySteps, ...peopleSteps, ...generationSteps]

/** A step, by its weight. */
const choose = (steps: Steps, random: Random): readonly [string, Step] => {
  let left = random.next() * steps.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [name, weight, step] of steps) {
    left -= weight
    if (left < 0) return [name, step]
  }
  throw new Error('there are no steps')
}

/** Clients of one person. */
const clientsOfPerson = 3

/** Clients that use the gateways until the signal aborts. The seed determines the steps of each, and their order. */
export const load = async (world: KillWorld, seed: number, signal: AbortSignal): Promise<void> => {
  const people = world.people.flatMap((person) =>
    Array.from({ length: clientsOfPerson }, () => [person, personal] as const),
  )
  const clients = [...people, [world.operator, operatorSteps] as const]
  await Promise.all(clients.map(([me, steps], nth) => client(world, me, steps, seed * 1_000 + nth, signal)))
}

const client = async (world: KillWorld, me: Person, steps: Steps, seed: number, signal: AbortSignal): Promise<void> => {
  const made = nothingMade()
  const all: Promise<void>[] = []
  for (let number = 0; !signal.aborted; number++) {
    const random = randomFrom(seed * 100_003 + number)
    const [name, step] = choose(steps, random)
    const born = `${me.marker} ${name} ${seed % 1_000}-${number}`
    const long = Promise.withResolvers<void>()
    const running = step(createStep({ world, me, random, born, made, onLong: long.resolve }))
    all.push(running)
    await Promise.race([running, long.promise])
  }
  await Promise.all(all)
}
