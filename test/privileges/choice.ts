import type { Caller } from './model.ts'
import type { World } from './world.ts'

/** Choices by the numbers of a random test case. */
export class Choice {
  readonly #numbers: number[]

  constructor(numbers: readonly number[]) {
    this.#numbers = [...numbers]
  }

  number(below: number): number {
    return (this.#numbers.shift() ?? 0) % below
  }

  of<Value>(values: readonly Value[]): Value {
    const value = values[this.number(values.length)]
    if (value === undefined && values.length === 0) throw new Error('nothing to choose from')
    return value as Value
  }

  some<Value>(values: readonly Value[]): readonly Value[] {
    const bits = 1 + this.number(2 ** values.length - 1)
    return values.filter((_, index) => (bits >> index) % 2 === 1)
  }
}

/** One step: a request, or a change by an operator, with what the model expects of it. */
export type Step = (world: World, choice: Choice) => Promise<void>

/** Anybody, mostly with a token that works. */
export const callerOf = ({ model }: World, choice: Choice): Caller => {
  const kind = choice.number(20)
  if (kind === 0) return { kind: 'nobody' }
  if (kind > 15 && model.logins.length > 0)
    return { kind: 'session', login: choice.of(model.logins), foreign: kind === 19 }
  const working = model.keys.filter((key) => key.secrets.some((secret) => model.secretWorks(key, secret)))
  const key = choice.of(kind > 4 && working.length > 0 ? working : model.keys)
  return { kind: 'token', key, secret: choice.of([...key.secrets, ...key.secrets, ...key.past]) }
}

/** Anybody, mostly with a session that works. */
export const sessionOf = (world: World, choice: Choice): Caller => {
  const kind = choice.number(10)
  const { model } = world
  const working = model.logins.filter((login) => model.loginWorks(login))
  if (kind < 7 && working.length > 0) return { kind: 'session', login: choice.of(working), foreign: false }
  if (kind < 9 && model.logins.length > 0)
    return { kind: 'session', login: choice.of(model.logins), foreign: kind === 7 }
  return callerOf(world, choice)
}

/** Texts that the models of a token may be. */
export const modelLists = [
  ...[
    undefined,
    undefined,
    ['doubao-seed-emulated'],
    ['doubao-*'],
    ['emulated-wide', 'doubao-seedance-2-0-fast-260128'],
  ],
  ['no-such-model'],
]

export const goodPassword = () => `good password ${crypto.randomUUID()}`
