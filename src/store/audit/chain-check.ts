import { type ChainKey, type ChainPlace, hmacOf } from './chain.ts'
import type { AuditEntry } from './entry.ts'

/** An entry of the chain: from the store, or from an exported file. */
export type ChainedEntry = Omit<AuditEntry, 'id'> & ChainPlace

/** Which entries a key has signed. */
export interface KeyRange {
  /** Name of the key. */
  readonly key: string
  readonly first: number
  readonly last: number
}

/** Options of `ChainCheck`. */
export interface ChainCheckOptions {
  /** The first is the current one; the others are older. */
  readonly keys: readonly ChainKey[]
  /** What was before the first entry. Undefined: the first entry is trusted to say that. */
  readonly start?: ChainPlace
  /** The place among the keys of the one that has signed `start`. Default: the last place. */
  readonly signer?: number | undefined
  /** A place that an earlier check has reported. It must still be in the chain. */
  readonly head?: ChainPlace
  /** Receives each problem, as a sentence, in the order of the entries. */
  readonly onProblem: (problem: string) => void
}

/** A check of a chain, entry by entry, in the order of their numbers. It keeps the last entry only. */
export class ChainCheck {
  readonly #options: ChainCheckOptions
  readonly #ranges = new Map<number, { first: number; last: number }>()
  #last: ChainPlace | undefined
  #first: number | undefined
  #verified = 0
  #damaged = 0
  #hasSeenHead = false
  /** The newest key so far: its place among the keys. */
  #newest: number

  constructor(options: ChainCheckOptions) {
    this.#options = options
    this.#last = options.start
    this.#newest = options.signer ?? options.keys.length - 1
  }

  /** Entries whose HMAC fits. */
  get verified(): number {
    return this.#verified
  }

  /** Entries that are changed, forged or missing. */
  get damaged(): number {
    return this.#damaged
  }

  /** Number of the first entry. Undefined: there was none. */
  get first(): number | undefined {
    return this.#first
  }

  /** The place of the last entry. Undefined: there was none, and no start. */
  get last(): ChainPlace | undefined {
    return this.#last
  }

  /** The entries of each key, the current key first. */
  get ranges(): readonly KeyRange[] {
    const { keys } = this.#options
    return [...this.#ranges]
      .toSorted(([a], [b]) => a - b)
      .map(([index, range]) => ({ key: keys[index]?.name ?? '', ...range }))
  }

  add(entry: ChainedEntry): void {
    const { sequence, hmac, previous } = entry
    this.#first ??= sequence
    this.#checkHead(sequence, hmac)
    const last = this.#last ?? { sequence: sequence - 1, hmac: previous ?? '' }
    if (sequence <= last.sequence) {
      this.#report(`entry ${sequence} comes after entry ${last.sequence}`, 1)
      return
    }
    this.#last = { sequence, hmac }
    // The entry after a gap cannot be verified: its HMAC is over the one before.
    if (sequence > last.sequence + 1) this.#reportGap(last.sequence + 1, sequence - 1)
    else this.#verify(entry, last.hmac)
  }

  #verify(entry: ChainedEntry, previous: string): void {
    const { sequence, hmac } = entry
    const index = this.#options.keys.findIndex(({ secret }) => hmacOf(secret, previous, sequence, entry) === hmac)
    if (index === -1) {
      this.#report(`entry ${sequence} is changed or forged, or its key is not among the given ones`, 1)
      return
    }
    this.#noteKey(index, sequence)
    this.#verified++
  }

  /** Call it after the last entry. `head`: the place that the chain says to end at. */
  end(head?: ChainPlace): void {
    const last = this.#last ?? { sequence: 0, hmac: '' }
    if (head && head.sequence > last.sequence) this.#reportGap(last.sequence + 1, head.sequence)
    else if (head && (head.sequence < last.sequence || head.hmac !== last.hmac)) {
      this.#report(`the chain ends at entry ${last.sequence}, and says that it ends at entry ${head.sequence}`, 1)
    }
    const expected = this.#options.head
    if (!expected || this.#hasSeenHead) return
    if (this.#options.start && expected.sequence <= this.#options.start.sequence) {
      this.#report(`entry ${expected.sequence} of the given head was removed for its age: nothing can be said of it`, 0)
    } else this.#report(`entry ${expected.sequence} of the given head is missing: the end of the chain was cut off`, 1)
  }

  #checkHead(sequence: number, hmac: string): void {
    const { head } = this.#options
    if (head?.sequence !== sequence) return
    this.#hasSeenHead = true
    if (head.hmac !== hmac) this.#report(`entry ${sequence} is not the one of the given head`, 1)
  }

  #reportGap(first: number, last: number): void {
    const what = first === last ? `entry ${first} is` : `entries ${first} to ${last} are`
    this.#report(`${what} missing`, last - first + 1)
  }

  /** Whoever has an older key could sign everything with it from some entry on. */
  #noteKey(index: number, sequence: number): void {
    if (index > this.#newest) {
      this.#report(`entry ${sequence} is signed with an older key than entries before it`, 1)
    }
    this.#newest = Math.min(this.#newest, index)
    const range = this.#ranges.get(index)
    if (range) range.last = sequence
    else this.#ranges.set(index, { first: sequence, last: sequence })
  }

  #report(problem: string, damaged: number): void {
    this.#damaged += damaged
    this.#options.onProblem(problem)
  }
}
