import { nextTurn } from '../../../plugins/shared/background/turns.ts'
import { type Clock, systemClock } from '../../../plugins/shared/clock.ts'
import { runOutsideRequests } from '../../../plugins/shared/http/current-request.ts'
import { type Log, noLog } from '../../../plugins/shared/problem.ts'
import type { Database } from '../database/database.ts'
import { rollUpStep, rowToRollUp, stepRows } from './rollup-step.ts'

/** How long usage is collected before it is rolled up: a month's sum takes one write for all of it. */
const delayMs = 2_000
/** Pause between two steps, so that others write in between. */
const pauseMs = 20
/** After a failure. */
const retryMs = 60_000
/** Steps for which a report waits. More are left only after the start of a new version, and it then reads the rows. */
const maxStepsOfReport = 50

/** Options of `UsageRollup`. */
export interface UsageRollupOptions {
  readonly clock?: Clock | undefined
  /** Receives a warning when usage cannot be rolled up. Reports then read all rows. */
  readonly log?: Log | undefined
}

/**
 * Adds the rows of usage to the sums of their months and days, in steps, away from requests.
 *
 * A row tells how much of it has been added, so nothing is lost or added twice, whoever is killed at whatever moment,
 * and rows that an older version of this program writes are added, too.
 */
export class UsageRollup {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Log
  #cancelTimer: (() => void) | undefined
  #isRunning = false
  #closed = false

  constructor(database: Database, { clock = systemClock, log = noLog }: UsageRollupOptions = {}) {
    this.#database = database
    this.#clock = clock
    this.#log = log
  }

  /** Rolls up soon. For calls after usage was written. */
  start(): void {
    if (!this.#isRunning) this.#schedule(delayMs)
  }

  /** Rolls up all usage that has been written, for a report. False: too much of it is left. */
  async catchUp(): Promise<boolean> {
    for (let step = 0; step < maxStepsOfReport; step++) {
      if ((await this.#rollUp()) < stepRows) return true
      await nextTurn()
    }
    this.start()
    return false
  }

  close(): void {
    this.#closed = true
    this.#cancelTimer?.()
  }

  #schedule(afterMs: number): void {
    if (this.#closed) return
    this.#cancelTimer ??= this.#clock.at(this.#clock.now() + afterMs, () => {
      this.#cancelTimer = undefined
      void runOutsideRequests(() => this.#runStep())
    })
  }

  async #runStep(): Promise<void> {
    this.#isRunning = true
    try {
      if ((await this.#rollUp()) === stepRows) this.#schedule(pauseMs)
    } catch (err) {
      if (this.#closed) return
      this.#log.warn({ err }, 'usage could not be rolled up')
      this.#schedule(retryMs)
    } finally {
      this.#isRunning = false
    }
  }

  /** Returns the number of rows that were rolled up. Writes nothing when there are none. */
  async #rollUp(): Promise<number> {
    const [waiting] = await this.#database.query(rowToRollUp)
    return waiting ? this.#database.transaction(rollUpStep) : 0
  }
}
