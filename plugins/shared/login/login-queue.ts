import { Problem } from '../problem.ts'

export interface LoginQueueOptions {
  /** Jobs that run concurrently. */
  readonly atOnce: number
  /** Jobs that wait, of all flows together. */
  readonly maxWaiting: number
  /** Message of the Problem 503 for a job that is rejected because the queue is full. */
  readonly message: string
}

/** A source of jobs, such as a network or a user name. The queue serves all flows fairly. */
export interface QueueFlow {
  readonly name: string
  /**
   * Whether the caller has logged in from this browser before. When the queue is full, unknown flows yield to a known
   * flow sooner. Default false.
   */
  readonly known?: boolean
}

interface WaitingJob {
  readonly start: () => void
  readonly reject: (problem: Problem) => void
}

/**
 * A fair queue: runs a few jobs concurrently, and serves the waiting flows round robin: the known ones and the others
 * in turn, so that a known one does not wait for many others. When the queue is full, it rejects a job of the longest
 * flow. So no flow can keep another one out.
 */
export class LoginQueue {
  readonly #options: LoginQueueOptions
  /** Flows with waiting jobs, the next one to be served first. No flow here is empty. */
  readonly #flows = new Map<string, { readonly known: boolean; readonly jobs: WaitingJob[] }>()
  #waiting = 0
  #running = 0
  #servedKnown = false

  constructor(options: LoginQueueOptions) {
    this.#options = options
  }

  /**
   * Runs a job. Rejects as `job` does, or with Problem 503 when the queue is full or another flow displaces the waiting
   * job.
   */
  async run<Result>(flow: QueueFlow, job: () => Promise<Result>): Promise<Result> {
    await this.#acquire(flow)
    try {
      return await job()
    } finally {
      this.#release()
    }
  }

  #acquire(flow: QueueFlow): Promise<void> {
    if (this.#running < this.#options.atOnce) {
      this.#running++
      return Promise.resolve()
    }
    return new Promise((start, reject) => {
      if (this.#waiting >= this.#options.maxWaiting && !this.#displaceJob(flow)) {
        reject(this.#full())
        return
      }
      const { name, known = false } = flow
      const jobs = this.#flows.get(name)?.jobs
      if (jobs) jobs.push({ start, reject })
      else this.#flows.set(name, { known, jobs: [{ start, reject }] })
      this.#waiting++
    })
  }

  /**
   * Rejects the newest job of the longest flow, to make room for a job of `flow`. Returns false when there is no such
   * job.
   *
   * The longest flow must stay at least as long as `flow` becomes. When `flow` is known and the other is not, it may
   * become one shorter.
   */
  #displaceJob({ name, known = false }: QueueFlow): boolean {
    const length = this.#flows.get(name)?.jobs.length ?? 0
    let longest: { readonly name: string; readonly jobs: WaitingJob[] } | undefined
    for (const [name, other] of this.#flows) {
      const minLength = known && !other.known ? length : length + 1
      if (other.jobs.length <= minLength || other.jobs.length < (longest?.jobs.length ?? 0)) continue
      longest = { name, jobs: other.jobs }
    }
    const newest = longest?.jobs.pop()
    if (!longest || !newest) return false
    if (longest.jobs.length === 0) this.#flows.delete(longest.name)
    this.#waiting--
    newest.reject(this.#full())
    return true
  }

  /** Starts the next job, of the first flow whose turn it is; that flow moves to the end. */
  #release(): void {
    const [first] = this.#flows
    if (!first) {
      this.#running--
      return
    }
    const [name, flow] = this.#flows.entries().find(([, { known }]) => known !== this.#servedKnown) ?? first
    this.#servedKnown = flow.known
    const next = flow.jobs.shift()
    this.#flows.delete(name)
    if (flow.jobs.length > 0) this.#flows.set(name, flow)
    this.#waiting--
    next?.start()
  }

  #full(): Problem {
    return new Problem(503, this.#options.message, { headers: { 'retry-after': '1' } })
  }
}
