import { Problem } from '../shared/problem.ts'

export interface LoginQueueOptions {
  /** So much is done at a time. */
  readonly atOnce: number
  /** So much waits, of all flows together. */
  readonly mostWaiting: number
  /** What is thrown at those who find no room. */
  readonly message: string
}

/** Who queues, where many do. */
export interface Flow {
  readonly name: string
  /** Somebody of one's own, as far as that can be known: strangers, however many they are, make room for one at a time. Default false. */
  readonly known?: boolean
}

interface Waiting {
  readonly start: () => void
  readonly refuse: (problem: Problem) => void
}

/**
 * Does a few things at a time, in turn for each flow of those who wait. When there is no more room, the flow with most in it makes room: no flow, however fast, keeps
 * another one out.
 */
export class LoginQueue {
  readonly #options: LoginQueueOptions
  /** The flow whose turn it is comes first. None is empty. */
  readonly #flows = new Map<string, { readonly known: boolean; readonly queue: Waiting[] }>()
  #waiting = 0
  #running = 0

  constructor(options: LoginQueueOptions) {
    this.#options = options
  }

  /** Rejects as `work` does, or with Problem 503 when there is no room, or no more. */
  async run<Result>(flow: Flow, work: () => Promise<Result>): Promise<Result> {
    await this.#turn(flow)
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  #turn(flow: Flow): Promise<void> {
    if (this.#running < this.#options.atOnce) {
      this.#running++
      return Promise.resolve()
    }
    return new Promise((start, refuse) => {
      if (this.#waiting >= this.#options.mostWaiting && !this.#makeRoom(flow)) {
        refuse(this.#full())
        return
      }
      const { name, known = false } = flow
      const queue = this.#flows.get(name)?.queue
      if (queue) queue.push({ start, refuse })
      else this.#flows.set(name, { known, queue: [{ start, refuse }] })
      this.#waiting++
    })
  }

  /**
   * Refuses the newest of the longest flow, unless that leaves it with fewer than the flow that wants its place; between a stranger and somebody known, one fewer is
   * no reason to spare it.
   */
  #makeRoom({ name, known = false }: Flow): boolean {
    const has = this.#flows.get(name)?.queue.length ?? 0
    let longest: { readonly name: string; readonly queue: Waiting[] } | undefined
    for (const [name, other] of this.#flows) {
      const enough = known && !other.known ? has : has + 1
      if (other.queue.length <= enough || other.queue.length < (longest?.queue.length ?? 0)) continue
      longest = { name, queue: other.queue }
    }
    const last = longest?.queue.pop()
    if (!longest || !last) return false
    if (longest.queue.length === 0) this.#flows.delete(longest.name)
    this.#waiting--
    last.refuse(this.#full())
    return true
  }

  #next(): void {
    const [first] = this.#flows
    if (!first) {
      this.#running--
      return
    }
    const [name, flow] = first
    const next = flow.queue.shift()
    this.#flows.delete(name)
    if (flow.queue.length > 0) this.#flows.set(name, flow)
    this.#waiting--
    next?.start()
  }

  #full(): Problem {
    return new Problem(503, this.#options.message, { headers: { 'retry-after': '1' } })
  }
}
