import type { Random } from '../../usage-limits/money/random.ts'
import type { Kind, Outcome } from '../history.ts'
import { type Answer, type Given, outcomeOf, type Person } from '../person.ts'
import type { KillWorld } from '../world.ts'

/** What one step of a client needs. */
export interface StepContext {
  readonly world: KillWorld
  readonly me: Person
  readonly others: readonly Person[]
  /** Of this step alone, so that what one step finds changes nothing in the next one. */
  readonly random: Random
  /** A text that only this step of this client has. */
  readonly born: string
  /** What earlier steps of this client have made. */
  readonly made: Made
  /** Sends a request to a process that the seed chooses, once. */
  ask(method: string, path: string, given?: Given): Promise<Answer | undefined>
  /** The same, and counts what became of it. */
  send(kind: string, method: string, path: string, given?: Given): Promise<Sent>
  /** Sends a request that changes nothing more when it is repeated, until it has an answer. */
  insist(method: string, path: string, given?: Given): Promise<Answer>
  /** Creates something. With a key, the request is repeated until its outcome is known. */
  create(kind: string, path: string, given: Given, isKeyed?: boolean): Promise<Sent>
  /** Records the attempt to create an object that must be there once. */
  attempted(kind: Kind, sent: Sent, id?: string, born?: string): void
  /** An acknowledged fact: the path answers like this when everything works again. */
  expect(object: string, path: string, check: (answer: Answer) => string | undefined, given?: Given): void
}

export type Step = (context: StepContext) => Promise<void>

export interface Sent {
  readonly outcome: Outcome
  /** Undefined: the connection was lost. */
  readonly answer: Answer | undefined
}

/** An object whose name may be one of several, because the outcome of a change is not known. */
export interface Named {
  readonly id: string
  readonly born: string
  names: readonly string[]
}

/** What one client has made. Another client of the same person uses none of it. */
export interface Made {
  /** A group that stays, and an asset in it. */
  home?: string
  portrait?: string
  readonly groups: Named[]
  readonly assets: Named[]
  readonly webhooks: string[]
  readonly shares: Map<string, string>
  /** The last response of the conversation, and the number of its turns. */
  conversation?: { readonly id: string; readonly turns: number }
  readonly responses: string[]
  readonly users: { readonly id: string; readonly tokens: { readonly id: string; secret: string }[] }[]
  readonly teams: string[]
}

export const nothingMade = (): Made => ({
  ...{ groups: [], assets: [], webhooks: [], shares: new Map(), responses: [], users: [], teams: [] },
})

/** How long a client waits before it repeats a request whose outcome is being found out, from the first time to the last. */
const [pauseMs, maxPauseMs] = [100, 1_000]
/** More than the lease of a key. */
const maxRepetitions = 300
/** After so many, the client goes on with something else meanwhile. */
const patience = 5

interface StepParts extends Pick<StepContext, 'world' | 'me' | 'random' | 'born' | 'made'> {
  /** The client need not wait for the end of this step. */
  readonly onLong: () => void
}

export const createStep = ({ world, me, random, born, made, onLong }: StepParts): StepContext => {
  const { processes, history } = world
  const ask: StepContext['ask'] = (method, path, given) =>
    me.ask(random.integer(0, processes.count - 1), method, path, given)
  const sentOf = (kind: string, answer: Answer | undefined): Sent => {
    const outcome = outcomeOf(answer)
    history.count(kind, outcome)
    return { outcome, answer }
  }
  const until = async (
    method: string,
    path: string,
    given: Given | undefined,
    isKnown: (answer: Answer | undefined) => boolean,
  ): Promise<Answer | undefined> => {
    for (let times = 0; times < maxRepetitions; times++) {
      const answer = await ask(method, path, given)
      if (isKnown(answer)) return answer
      if (times === patience) onLong()
      await Bun.sleep(Math.min(pauseMs * 1.1 ** times, maxPauseMs))
    }
    history.violations.push(`${method} ${path} has no outcome after ${maxRepetitions} repetitions`)
    return undefined
  }
  return {
    ...{ world, me, random, born, made, ask },
    others: world.people.filter(({ id }) => id !== me.id),
    send: async (kind, method, path, given) => sentOf(kind, await ask(method, path, given)),
    async insist(method, path, given) {
      const isKnown = (answer: Answer | undefined) => answer !== undefined && answer.status < 500
      const answer = await until(method, path, given, isKnown)
      if (answer === undefined) throw new Error(`${method} ${path} has no answer`)
      return answer
    },
    async create(kind, path, given, isKeyed = random.chance(0.5)) {
      if (!isKeyed) return sentOf(kind, await ask('POST', path, given))
      const keyed = { ...given, headers: { ...given.headers, 'idempotency-key': born.replaceAll(' ', '.') } }
      const answer = await until('POST', path, keyed, isSettled)
      return sentOf(`${kind} with a key`, answer)
    },
    attempted(kind, { outcome }, id, own = born) {
      history.created({ kind, born: own, user: me.id, outcome, id })
    },
    expect(object, path, check, given) {
      history.expect(`${object} of ${me.name}`, async () => {
        const answer = await me.read(path, given)
        const problem = check(answer)
        return problem && `${problem} (${path}: ${answer.status} ${answer.text.slice(0, 300)})`
      })
    },
  }
}

/** Whether a client that repeats a creation goes on with something else. */
const isSettled = (answer: Answer | undefined): boolean => {
  if (answer === undefined) return false
  if (answer.status >= 500) return answer.text.includes('look before')
  return !(answer.status === 409 && answer.text.includes('still in progress'))
}

/** What is there, and what is not. */
export const isThere = ({ status }: Answer): string | undefined => (status === 200 ? undefined : 'is lost')
export const isGone = ({ status }: Answer): string | undefined =>
  status >= 400 && status < 500 ? undefined : 'is still there'
