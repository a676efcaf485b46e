import { StoreError } from './error.ts'

export interface ConnectionPoolOptions<Lane> {
  /** How many there are. */
  readonly size: number
  readonly open: () => Lane
  /** Gives one up. Must not wait for the other side. */
  readonly drop: (lane: Lane) => void
  /** How long work may use a lane before the lane counts as dead. Milliseconds. */
  readonly patienceMs: number
}

/**
 * Connections, each used by one piece of work at a time. Work that does not end in time costs its lane: it is dropped and replaced, so nothing
 * that is sent later can queue up behind it; work that finds no lane in time is never sent at all.
 */
export class ConnectionPool<Lane> {
  readonly #options: ConnectionPoolOptions<Lane>
  /** The one used last is used next: lanes that are not needed fall idle. */
  readonly #idle: Lane[]
  readonly #waiting = new Set<(lane: Lane) => void>()
  readonly #busy = new Set<Lane>()

  constructor(options: ConnectionPoolOptions<Lane>) {
    this.#options = options
    this.#idle = Array.from({ length: options.size }, options.open)
  }

  /** All lanes, to end them well. */
  get all(): readonly Lane[] {
    return [...this.#idle, ...this.#busy]
  }

  /** Rejects `deadlineMs` from now at the latest. The work may still take effect then: its outcome is unknown. */
  async run<Result>(work: (lane: Lane) => Promise<Result>, deadlineMs: number): Promise<Result> {
    const startedAt = performance.now()
    const lane = this.#idle.pop() ?? (await this.#free(deadlineMs))
    const working = this.#use(lane, work, Math.max(deadlineMs, this.#options.patienceMs))
    return within(working, deadlineMs - (performance.now() - startedAt))
  }

  #free(deadlineMs: number): Promise<Lane> {
    return new Promise((resolve, reject) => {
      const take = (lane: Lane) => {
        clearTimeout(timer)
        resolve(lane)
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(take)
        reject(late())
      }, deadlineMs)
      this.#waiting.add(take)
    })
  }

  #use<Result>(lane: Lane, work: (lane: Lane) => Promise<Result>, patienceMs: number): Promise<Result> {
    this.#busy.add(lane)
    const leave = (next: () => Lane) => {
      clearTimeout(timer)
      if (this.#busy.delete(lane)) this.#giveBack(next())
    }
    const timer = setTimeout(() => {
      leave(this.#options.open)
      this.#options.drop(lane)
    }, patienceMs)
    const working = work(lane)
    working.then(
      () => leave(() => lane),
      () => leave(() => lane),
    )
    return working
  }

  #giveBack(lane: Lane): void {
    const [next] = this.#waiting
    if (!next) {
      this.#idle.push(lane)
      return
    }
    this.#waiting.delete(next)
    next(lane)
  }
}

const late = () => new StoreError('the database did not answer in time')

/** The promise, or a StoreError after `ms`. */
const within = <Result>(promise: Promise<Result>, ms: number): Promise<Result> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.max(0, ms))
    promise.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
