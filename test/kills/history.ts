/** Says what is wrong when everything works again. Undefined: it is as it must be. */
export type Expectation = () => Promise<string | undefined>

/** The kinds of objects that the upstream, or the gateway, must not have twice. */
export type Kind = 'group' | 'asset' | 'video' | 'upload' | 'user' | 'team'

/** An attempt to create something. */
export interface Creation {
  readonly kind: Kind
  /** The text that it was created with, which no other creation has. */
  readonly born: string
  readonly user: string
  /** The id that its caller was told. Undefined: the caller got no answer, or the object has no id of the upstream. */
  readonly id?: string | undefined
  readonly outcome: Outcome
}

/** `unknown`: there was no answer, or one that says that the server has failed. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** A call that uses tokens. */
export interface TextCall {
  readonly user: string
  readonly slot: number
  readonly sentAt: number
  readonly answeredAt: number
  readonly outcome: Outcome
}

/** A process that was killed. */
export interface Killed {
  readonly slot: number
  readonly at: number
  /** Requests of that process that had no answer yet. */
  readonly inFlight: number
}

/** A change that the audit trail must have, because it is recorded before its answer. */
export interface Audited {
  readonly action: string
  readonly target?: string
}

/** What the clients have sent, and what they were told. */
export class History {
  readonly creations = new Map<string, Creation>()
  readonly texts: TextCall[] = []
  readonly kills: Killed[] = []
  readonly audited: Audited[] = []
  /** Answers that no client may get. */
  readonly violations: string[] = []
  readonly counts = new Map<string, Record<Outcome, number>>()
  /** Whose an id is. */
  readonly owners = new Map<string, string>()
  readonly #expected = new Map<string, Expectation>()

  /** An acknowledged fact about an object. It takes the place of an earlier one. */
  expect(object: string, expectation: Expectation): void {
    this.#expected.set(object, expectation)
  }

  created(creation: Creation): void {
    this.creations.set(creation.born, creation)
    // What an operator makes belongs to nobody.
    const { kind, id, user } = creation
    if (id !== undefined && kind !== 'user' && kind !== 'team') this.owners.set(id, user)
  }

  count(kind: string, outcome: Outcome): void {
    const counts = this.counts.get(kind) ?? { acknowledged: 0, refused: 0, unknown: 0 }
    counts[outcome]++
    this.counts.set(kind, counts)
  }

  /** The facts that do not hold. */
  async broken(): Promise<readonly string[]> {
    const found: string[] = []
    for (const [object, holds] of this.#expected) {
      const problem = await holds()
      if (problem !== undefined) found.push(`${object}: ${problem}`)
    }
    return found
  }

  get facts(): number {
    return this.#expected.size
  }
}
