import type { Step } from './choice.ts'
import type { Person } from './model.ts'
import { operatorSteps } from './operator-steps.ts'
import { sessionSteps } from './session-steps.ts'
import { tokenSteps } from './token-steps.ts'
import type { World } from './world.ts'

/** All steps, by name. */
export const steps: Readonly<Record<string, Step>> = { ...tokenSteps, ...sessionSteps, ...operatorSteps }

/** The names of all steps, some of them more often: those of people, who climb, and a login, which most of them need. */
export const stepNames: readonly string[] = [
  ...[...Object.keys(tokenSteps), ...Object.keys(sessionSteps), ...Object.keys(sessionSteps)],
  ...[...Object.keys(operatorSteps), 'logIn', 'logIn', 'logIn', 'enable', 'chat', 'invite'],
]

/** People of every kind, each with a token and a session, and the names of a few keys of an admin. */
export const addInitialPeople = async (world: World): Promise<void> => {
  const people = [await world.addPerson('user'), await world.addPerson('user'), await world.addPerson('admin')]
  const service = await world.addPerson('user', true)
  for (const person of people) {
    await world.addKey(person, ['media', 'text', 'video'], undefined)
    await world.logIn(person, person.password)
  }
  await world.addKey(service, ['text', 'read'], ['doubao-seed-emulated'])
  await world.addKey(people[2] as Person, ['admin', 'provision'], undefined)
  await world.addKey(people[0] as Person, ['read'], undefined)
}
