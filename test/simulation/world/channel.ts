import { simulated } from '../virtual/virtual-process.ts'

/**
 * What becomes of a request that a gateway sends to the database or to the upstream.
 *
 * - `done`: it takes effect, and the answer arrives.
 * - `refused`: it has no effect, and the gateway can know that.
 * - `lost`: it has no effect, but the gateway cannot know that.
 * - `unknown`: it takes effect, and the answer is lost.
 * - `late`: the gateway gives it up, and then it takes effect all the same.
 */
export type Outcome = 'done' | 'refused' | 'lost' | 'unknown' | 'late'

/** How often each outcome is. */
export type Outcomes = Readonly<Record<Outcome, number>>

export const flawless: Outcomes = { done: 1, refused: 0, lost: 0, unknown: 0, late: 0 }

/** One end of a channel: a gateway, which may be killed. */
export interface Sender {
  readonly name: string
  readonly isAlive: boolean
}

/** How long a request may take that its sender has given up. */
const maxLateMs = 2_500

const never = <Value>(): Promise<Value> => new Promise(() => {})

/** Carries requests of the gateways to what they share, with messages that are slow or lost. */
export class Channel {
  outcomes: Outcomes = flawless
  /** Part of the messages that take up to a second and a half, so that many others overtake them. */
  slow = 0.03

  constructor(
    readonly name: string,
    readonly trace: (line: string) => void,
  ) {}

  /** Milliseconds that a message takes. */
  #travelMs(): number {
    const { random } = simulated
    if (random.chance(this.slow)) return random.next() * 1_500
    return random.next() * (random.chance(0.12) ? 100 : 4)
  }

  /**
   * Sends a request. Its effect takes place at one moment, as a whole.
   *
   * @param fail returns or throws what the sender gets instead of the answer
   */
  async send<Answer>(
    sender: Sender,
    label: string,
    effect: () => Promise<Answer>,
    fail: (outcome: Exclude<Outcome, 'done'>) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    if (!sender.isAlive) return never()
    const { timeline, random } = simulated
    const outcome = random.weighted(this.outcomes)
    // The last requests of a killed gateway arrive or not.
    const arrivesAnyway = random.chance(0.5)
    const answerMs = this.#travelMs()
    if (outcome === 'late') {
      timeline.after(answerMs + random.next() * maxLateMs, () => {
        this.trace(`${sender.name} ${this.name} takes effect late: ${label}`)
        effect().catch(() => {})
      })
      await timeline.delay(answerMs)
    } else {
      await timeline.delay(this.#travelMs())
      if (outcome === 'done' || outcome === 'unknown') {
        if (!sender.isAlive && !arrivesAnyway) return never()
        this.trace(`${sender.name} ${this.name} ${outcome}: ${label}`)
        const answer = effect()
        // Nobody else waits for it if its answer is lost.
        answer.catch(() => {})
        await timeline.delay(answerMs)
        if (!sender.isAlive) return never()
        if (outcome === 'done') return answer
      }
    }
    if (!sender.isAlive) return never()
    this.trace(`${sender.name} ${this.name} fails, ${outcome}: ${label}`)
    return fail(outcome as Exclude<Outcome, 'done'>)
  }
}
