import { DatabaseBusyError, StoreError } from './error.ts'

/** Options of `ConnectionPool`. */
export interface ConnectionPoolOptions<Connection> {
  /** Number of connections. */
  readonly size: number
  /** Number of connections that the work of one user may use at once. Default: all. */
  readonly maxPerUser?: number
  readonly open: () => Connection
  /** Closes a connection that counts as dead. It must not wait for the server. */
  readonly drop: (connection: Connection) => void
  /** Whether work has failed because its connection broke: the pool then opens a new one. Default: never. */
  readonly isBroken?: (error: unknown) => boolean
  /** How long one piece of work may use a connection before the pool drops that connection. Milliseconds. */
  readonly maxWorkMs: number
}

/**
 * A fixed number of connections, each used by one piece of work at a time. The waiting work of all users is served
 * round robin.
 *
 * When work does not end in time, the pool drops its connection and opens a new one. So later statements never queue
 * behind a statement that hangs. Work that gets no connection in time is not started.
 */
export class ConnectionPool<Connection> {
  readonly #options: ConnectionPoolOptions<Connection>
  /** A stack: the connection used last is used next, so connections that are not needed become idle and close. */
  readonly #idle: Connection[]
  readonly #waiting = new WaitingWork<(connection: Connection) => void>()
  readonly #busy = new Set<Connection>()
  /** Number of connections in use, by the user. */
  readonly #usedBy = new Map<unknown, number>()
  /** Number of pieces of work that have succeeded. */
  #succeeded = 0

  constructor(options: ConnectionPoolOptions<Connection>) {
    this.#options = options
    this.#idle = Array.from({ length: options.size }, options.open)
  }

  /** All connections, so that the owner can close them. */
  get all(): readonly Connection[] {
    return [...this.#idle, ...this.#busy]
  }

  /**
   * Rejects after `deadlineMs` at the latest. The outcome is then unknown: the work may still take effect. Rejects with
   * DatabaseBusyError, when most of that time is over, for work that has not begun although other work was done.
   *
   * @param user for whom the work is. Undefined: for nobody, or for many
   */
  async run<Result>(
    work: (connection: Connection) => Promise<Result>,
    deadlineMs: number,
    user?: string,
  ): Promise<Result> {
    const startedAt = performance.now()
    const idle = this.#mayUseMore(user) ? this.#idle.pop() : undefined
    if (idle !== undefined) this.#count(user, 1)
    const connection = idle ?? (await this.#waitForIdle(deadlineMs, user))
    const running = this.#use(connection, work, { maxWorkMs: Math.max(deadlineMs, this.#options.maxWorkMs), user })
    return withTimeout(running, deadlineMs - (performance.now() - startedAt))
  }

  #waitForIdle(deadlineMs: number, user: string | undefined): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const succeeded = this.#succeeded
      const accept = (connection: Connection) => {
        clearTimeout(timer)
        this.#count(user, 1)
        resolve(connection)
      }
      const expire = () => {
        remove()
        reject(timeoutError())
      }
      const onLongWait = () => {
        if (this.#succeeded > succeeded) {
          remove()
          reject(new DatabaseBusyError(new Error('no connection became free in time')))
        } else timer = setTimeout(expire, deadlineMs * (1 - waitingShare))
      }
      let timer = setTimeout(onLongWait, deadlineMs * waitingShare)
      const remove = this.#waiting.add(accept, user)
    })
  }

  #use<Result>(
    connection: Connection,
    work: (connection: Connection) => Promise<Result>,
    { maxWorkMs, user }: { readonly maxWorkMs: number; readonly user: string | undefined },
  ): Promise<Result> {
    this.#busy.add(connection)
    const finish = (next: () => Connection) => {
      clearTimeout(timer)
      if (!this.#busy.delete(connection)) return
      this.#count(user, -1)
      this.#release(next())
    }
    const replace = () => {
      finish(this.#options.open)
      this.#options.drop(connection)
    }
    const timer = setTimeout(replace, maxWorkMs)
    const running = work(connection)
    running.then(
      () => {
        this.#succeeded++
        finish(() => connection)
      },
      (error: unknown) => (this.#options.isBroken?.(error) ? replace() : finish(() => connection)),
    )
    return running
  }

  #release(connection: Connection): void {
    const next = this.#waiting.next((owner) => this.#mayUseMore(owner))
    if (next) next(connection)
    else this.#idle.push(connection)
  }

  /** @param owner a user; anything else is work of no user, or of many */
  #mayUseMore(owner: unknown): boolean {
    return (this.#usedBy.get(owner) ?? 0) < (this.#options.maxPerUser ?? this.#options.size)
  }

  #count(user: string | undefined, change: 1 | -1): void {
    if (user === undefined) return
    const used = (this.#usedBy.get(user) ?? 0) + change
    if (used > 0) this.#usedBy.set(user, used)
    else this.#usedBy.delete(user)
  }
}

/**
 * The part of its deadline for which work waits for a connection of a database that works. The rest is for the work: if
 * it began shortly before its deadline, its outcome would often be unknown.
 */
const waitingShare = 3 / 4

const timeoutError = () => new StoreError('the database did not respond in time')

/** Settles like the promise, or rejects with a StoreError after `ms`. */
const withTimeout = <Result>(promise: Promise<Result>, ms: number): Promise<Result> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timeoutError()), Math.max(0, ms))
    promise.finally(() => clearTimeout(timer)).then(resolve, reject)
  })

/**
 * Work that waits, in turns of the users: whoever has much of it waiting delays the others by one piece in each round.
 * Work of no user has a turn of its own, as if it were that of a further user.
 */
class WaitingWork<Work> {
  /** By user, or by the work itself. The first is next; none is empty. */
  readonly #queues = new Map<unknown, Work[]>()

  /** Returns a function that removes the work, unless it has had its turn. */
  add(work: Work, user: string | undefined): () => void {
    const owner = user ?? work
    const queue = this.#queues.get(owner)
    if (queue) queue.push(work)
    else this.#queues.set(owner, [work])
    return () => this.#remove(owner, work)
  }

  /**
   * Removes and returns the work whose turn it is.
   *
   * @param mayRun whether work of a user may have its turn. Default: of all
   */
  next(mayRun: (owner: unknown) => boolean = () => true): Work | undefined {
    for (const [owner, queue] of this.#queues) {
      if (!mayRun(owner)) continue
      const work = queue.shift()
      this.#queues.delete(owner)
      if (queue.length > 0) this.#queues.set(owner, queue)
      return work
    }
    return undefined
  }

  #remove(owner: unknown, work: Work): void {
    const queue = this.#queues.get(owner) ?? []
    const at = queue.indexOf(work)
    if (at >= 0) queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(owner)
  }
}
