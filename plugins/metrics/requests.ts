import type { TextTokens } from './index.ts'

// What is counted for every request is gathered here, and told to prom-client when somebody looks, or many at a time: one by one, its checks of labels and values cost as
// much as the rest of a refusal.

/** Answers by method, or by action, and by status: as many as there are of both, which no caller chooses. */
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

/** Calls and tokens of one model. */
export class TextCounts {
  reported = 0
  unreported = 0
  readonly tokens = { input: 0, cached_input: 0, output: 0, reasoning: 0 }

  add(tokens: TextTokens | undefined): void {
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

/** Values that are passed on, in their order, 128 at a time or when they are wanted. */
export class Gathered {
  readonly #values: number[] = []
  readonly #observe: (value: number) => void

  constructor(observe: (value: number) => void) {
    this.#observe = observe
  }

  add(value: number): void {
    if (this.#values.push(value) === most) this.pass()
  }

  pass(): void {
    for (const value of this.#values) this.#observe(value)
    this.#values.length = 0
  }
}

const most = 128
