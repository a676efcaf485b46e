/** A call that is under way. */
export interface Flight<Result> {
  readonly answer: Promise<Result>
  /** Ends it: nobody waits for it any more. */
  abandon(reason: unknown): void
}

/** Somebody who asks. `Entry` is what it takes to begin a call: a place under a limit, for example. */
export interface FlightRequest<Entry, Result> {
  /** Aborted when the asker goes away. */
  readonly signal?: AbortSignal
  /**
   * Gets what it takes to begin. Called off, by its signal, when somebody else has begun meanwhile, or the asker has left. `joined`: others were there
   * before, and may get theirs first.
   */
  readonly enter?: (signal: AbortSignal, joined: boolean) => Promise<Entry>
  /** Gives back what came too late. */
  readonly unused?: (entry: Entry) => void
  /** Makes the call for all. It is abandoned when all of them have left. */
  readonly begin: (entry: Entry | undefined) => Flight<Result>
}

type Left = (reason: unknown) => Error

/**
 * Calls that are shared by all who ask the same thing at the same time. Each asker waits for an entry of its own, and the first to get one asks for all: so
 * nobody waits longer than alone. An error is everybody's too. Nothing is remembered when the call has ended.
 */
export class SingleFlight<Entry, Result> {
  readonly #rounds = new Map<string, Round<Entry, Result>>()
  readonly #left: Left

  /** @param left makes the error for who has left, of the signal's reason */
  constructor(left: Left) {
    this.#left = left
  }

  /** Rejects as the call does; as the asker's own `enter` does; and when the asker has left. */
  ask(key: string, asker: FlightRequest<Entry, Result>): Promise<Result> {
    const { signal } = asker
    if (signal?.aborted) return Promise.reject(this.#left(signal.reason))
    let round = this.#rounds.get(key)
    if (!round) {
      round = new Round(this.#rounds, key)
      this.#rounds.set(key, round)
    }
    return round.join(asker, this.#left)
  }

  /** Whoever asks from now on shares no call that has begun already. */
  seal(): void {
    for (const [key, round] of this.#rounds) if (round.call) this.#rounds.delete(key)
  }
}

/** Those who share one call. */
class Round<Entry, Result> {
  call: Flight<Result> | undefined
  readonly #members = new Set<Member<Entry, Result>>()
  readonly #rounds: Map<string, Round<Entry, Result>>
  readonly #key: string

  constructor(rounds: Map<string, Round<Entry, Result>>, key: string) {
    this.#rounds = rounds
    this.#key = key
  }

  join(asker: FlightRequest<Entry, Result>, left: Left): Promise<Result> {
    const member = new Member(this, asker, left)
    asker.signal?.addEventListener('abort', member)
    const joined = this.#members.size > 0
    this.#members.add(member)
    if (!this.call) {
      if (asker.enter) void this.#enter(member, asker.enter, joined)
      else this.#begin(asker, undefined)
    }
    return member.answer.promise
  }

  leave(member: Member<Entry, Result>, reason: unknown): void {
    this.#members.delete(member)
    if (this.#members.size > 0) return
    this.#close()
    this.call?.abandon(reason)
  }

  async #enter(
    member: Member<Entry, Result>,
    enter: (signal: AbortSignal, joined: boolean) => Promise<Entry>,
    joined: boolean,
  ): Promise<void> {
    const { asker } = member
    member.wait = new AbortController()
    try {
      const entry = await enter(member.wait.signal, joined)
      member.wait = undefined
      if (this.call || !this.#members.has(member)) asker.unused?.(entry)
      else this.#begin(asker, entry)
    } catch (error) {
      // Called off, because the call of another has begun, or its asker has left.
      if (this.call || !this.#members.has(member)) return
      this.#members.delete(member)
      if (this.#members.size === 0) this.#close()
      member.fail(error)
    }
  }

  #begin(asker: FlightRequest<Entry, Result>, entry: Entry | undefined): void {
    this.call = asker.begin(entry)
    for (const { wait } of this.#members) wait?.abort()
    this.call.answer.then(
      (result) => {
        this.#close()
        for (const member of this.#members) member.end(result)
      },
      (error: unknown) => {
        this.#close()
        for (const member of this.#members) member.fail(error)
      },
    )
  }

  #close(): void {
    if (this.#rounds.get(this.#key) === this) this.#rounds.delete(this.#key)
  }
}

class Member<Entry, Result> {
  readonly asker: FlightRequest<Entry, Result>
  readonly answer = Promise.withResolvers<Result>()
  /** While it waits for an entry. */
  wait: AbortController | undefined
  readonly #round: Round<Entry, Result>
  readonly #left: Left

  constructor(round: Round<Entry, Result>, asker: FlightRequest<Entry, Result>, left: Left) {
    this.#round = round
    this.#left = left
    this.asker = asker
  }

  end(result: Result): void {
    this.asker.signal?.removeEventListener('abort', this)
    this.answer.resolve(result)
  }

  fail(error: unknown): void {
    this.asker.signal?.removeEventListener('abort', this)
    this.answer.reject(error)
  }

  /** The asker has left. */
  handleEvent(): void {
    const reason: unknown = this.asker.signal?.reason
    this.fail(this.#left(reason))
    this.wait?.abort(reason)
    this.#round.leave(this, reason)
  }
}
