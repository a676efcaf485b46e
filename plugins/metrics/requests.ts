/** Token counts of one call. `cachedInput` is part of `input`, and `reasoning` is part of `output`. */
export interface TextTokens {
  readonly input: number
  readonly cachedInput: number
  readonly output: number
  readonly reasoning: number
}

// These counters pass their values to prom-client at a scrape, or many at a time. To pass each value at once would cost
// as much as the rest of a 401 response, because prom-client checks all labels and values.

/**
 * Counts by name (a method or an action) and status. Callers cannot invent either, so the number of counters is
 * bounded.
 */
export class StatusCounts {
  readonly #names = new Map<string, Map<number, number>>()

  add(name: string, status: number): void {
    let statuses = this.#names.get(name)
    if (!statuses) {
      statuses = new Map()
      this.#names.set(name, statuses)
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }

  all(): readonly { readonly name: string; readonly status: number; readonly count: number }[] {
    return [...this.#names].flatMap(([name, statuses]) =>
      [...statuses].map(([status, count]) => ({ name, status, count })),
    )
  }
}

/** Counts of calls and tokens of one model, and their cost. */
export class TextCounts {
  reported = 0
  unreported = 0
  readonly tokens = { input: 0, cached_input: 0, output: 0, reasoning: 0 }
  /** In billionths of the currency unit. Undefined: no call had a price. */
  cost: number | undefined

  add(tokens: TextTokens | undefined, cost: number | undefined): void {
    if (cost !== undefined) this.cost = (this.cost ?? 0) + cost
    if (!tokens) {
      this.unreported++
      return
    }
    this.reported++
    this.tokens.input += tokens.input
    this.tokens.cached_input += tokens.cachedInput
    this.tokens.output += tokens.output
    this.tokens.reasoning += tokens.reasoning
  }
}

/** Buffers observed values and passes them on in order: 128 at a time, or at a scrape. */
export class ObservationBuffer {
  readonly #values: number[] = []
  readonly #observe: (value: number) => void

  constructor(observe: (value: number) => void) {
    this.#observe = observe
  }

  add(value: number): void {
    if (this.#values.push(value) === maxBuffered) this.flush()
  }

  flush(): void {
    for (const value of this.#values) this.#observe(value)
    this.#values.length = 0
  }
}

const maxBuffered = 128
