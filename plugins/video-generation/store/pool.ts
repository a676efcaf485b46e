/** The slots of a pool: the tasks of one model or endpoint that may run at once. */
export interface PoolLimits {
  /** Running tasks of all users. */
  readonly running: number
  /** Running tasks of one user. Default: no maximum of its own. */
  readonly runningPerUser?: number
  /** Waiting tasks of one user. Default: no maximum. */
  readonly waitingPerUser?: number
  /** Bytes of the requests of all waiting tasks of one user. Default: no maximum. */
  readonly waitingBytesPerUser?: number
  /**
   * Weight of a user: with 2, the user's share of the slots is twice that of a user with 1. Greater than 0, default 1.
   */
  readonly weightOf?: (user: string) => number
}

/** What the upstream's 429 says about a pool. */
export interface PoolSignal {
  /**
   * - `running`: the upstream's maximum of running tasks is reached: there are as many slots as tasks are running now.
   *   Later it is tried with one more.
   * - `queue`: the upstream's own queue is full. The pool pauses until a task of it leaves, or until the pause ends.
   * - `rate`: calls are too frequent. The pool pauses.
   */
  readonly kind: 'running' | 'queue' | 'rate'
  /** How long to pause. Default: a second, and twice as long with each further signal, up to a minute. */
  readonly pauseMs?: number
}

/** The place of a task in the queue. */
export interface VideoQueuePlace {
  /** Number of tasks that start before it, of all users. */
  readonly before: number
  /** Estimated milliseconds until its start. Undefined: no task of the pool has ended yet. */
  readonly startsInMs?: number
}

/** How many tasks of a pool are waiting or running. */
export interface VideoTaskCount {
  /** Empty: tasks without a pool. */
  readonly pool: string
  /** `overrunning`: those that run for too long, and take no slot. */
  readonly phase: 'waiting' | 'running' | 'overrunning'
  readonly count: number
  /** When the oldest of them was created. Only of waiting tasks. */
  readonly oldestAt?: number
}
