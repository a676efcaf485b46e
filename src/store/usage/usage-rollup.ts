import type { UsageTotal } from '../../../plugins/admin/usage-sums.ts'
import { nextTurn } from '../../../plugins/shared/background/turns.ts'
import { type Clock, systemClock } from '../../../plugins/shared/clock.ts'
import { runOutsideRequests } from '../../../plugins/shared/http/current-request.ts'
import { type Log, noLog } from '../../../plugins/shared/problem.ts'
import { compareTexts } from '../../../plugins/shared/text.ts'
import {
  clause,
  type Database,
  fragment,
  joinClauses,
  type Statement,
  type Steps,
  sql,
  withCommas,
} from '../database/database.ts'
import {
  columnsOf,
  isDaily,
  type RollupColumn,
  type RollupLevel,
  rollupColumns,
  rollupLevels,
} from './rollup-levels.ts'

/** Rows of usage that one transaction rolls up: SQLite answers nothing else meanwhile. */
const stepRows = 100
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
    const [waiting] = await this.#database.query(sql`
      select 1 as waiting
      from text_usage
      where ${isToRollUp}
      order by user_id, token_id, day, model
      limit 1`)
    return waiting ? this.#database.transaction(rollUpStep) : 0
  }
}

/** As in the index of these rows. The order is that of the index: PostgreSQL would prefer the table otherwise. */
const isToRollUp = fragment`case when calls = rolled_calls then 0 else 1 end = 1`

type Kind = 'text' | 'video'
type Sums = Omit<UsageTotal, RollupColumn | 'day' | `${string}Name` | 'tokenStart'>

interface UsageRow extends Record<RollupColumn | 'day', string>, Sums {
  readonly rolledCalls: number
  readonly rolledUnreported: number
  readonly rolledInputTokens: number
  readonly rolledCachedTokens: number
  readonly rolledOutputTokens: number
  readonly rolledReasoningTokens: number
  readonly rolledVideoSeconds?: number
  readonly rolledCost?: number
}

/** A sum to be added to a roll-up. */
interface Addition extends Record<RollupColumn, string> {
  readonly level: RollupLevel
  readonly period: string
  readonly kind: Kind
  readonly sums: Sums
}

function* rollUpStep(): Steps<number> {
  yield sql`update usage_rollup_turns set turn = turn + 1 where id = 1`
  const rows = (yield sql`
    select user_id as "user", token_id as token, day, model, coalesce(team_id, '') as team, calls, unreported,
      input_tokens as "inputTokens", cached_tokens as "cachedTokens", output_tokens as "outputTokens",
      reasoning_tokens as "reasoningTokens", video_seconds as "videoSeconds", cost,
      rolled_calls as "rolledCalls", rolled_unreported as "rolledUnreported",
      rolled_input_tokens as "rolledInputTokens", rolled_cached_tokens as "rolledCachedTokens",
      rolled_output_tokens as "rolledOutputTokens", rolled_reasoning_tokens as "rolledReasoningTokens",
      rolled_video_seconds as "rolledVideoSeconds", rolled_cost as "rolledCost"
    from text_usage
    where ${isToRollUp}
    order by user_id, token_id, day, model
    limit ${stepRows}`) as unknown as readonly UsageRow[]
  const additions = new Map<string, Addition>()
  for (const row of rows) collect(row, additions)
  yield [
    // In the order of batches of usage: they cannot deadlock.
    ...groupsOf(rows.toSorted((a, b) => compareTexts(rowKeyOf(a), rowKeyOf(b)))).map(markRolledUp),
    ...groupsOf([...additions.values()]).map(addToRollups),
  ]
  return rows.length
}

const rowKeyOf = ({ user, token, day, model }: UsageRow): string => [user, token, day, model].join(' ')

/** Rows of one statement: a database takes longer for many statements. Few sizes, because each is a statement. */
const groupSizes = [16, 4, 1] as const

const groupsOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
  const groups: (readonly Item[])[] = []
  for (let at = 0; at < items.length; at += groups.at(-1)?.length ?? 1) {
    const size = groupSizes.find((each) => each <= items.length - at) ?? 1
    groups.push(items.slice(at, at + size))
  }
  return groups
}

/** What was read, and not what is there now: a concurrent call may have added to the rows. */
const markRolledUp = (rows: readonly UsageRow[]): Statement =>
  joinClauses(
    clause`
      with rolled (
        user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
        video_seconds, cost
      ) as (values `,
    ...withCommas(rows.map(rolledRow)),
    clause`)
      update text_usage
      set rolled_calls = rolled.calls, rolled_unreported = rolled.unreported,
        rolled_input_tokens = rolled.input_tokens, rolled_cached_tokens = rolled.cached_tokens,
        rolled_output_tokens = rolled.output_tokens, rolled_reasoning_tokens = rolled.reasoning_tokens,
        rolled_video_seconds = rolled.video_seconds, rolled_cost = rolled.cost
      from rolled
      where text_usage.user_id = rolled.user_id
      and text_usage.token_id = rolled.token_id
      and text_usage.day = rolled.day
      and text_usage.model = rolled.model`,
  )

const rolledRow = (row: UsageRow): Statement => clause`
  (
    cast(${row.user} as text), cast(${row.token} as text), cast(${row.day} as text), cast(${row.model} as text),
    cast(${row.calls} as bigint), cast(${row.unreported} as bigint), cast(${row.inputTokens} as bigint),
    cast(${row.cachedTokens} as bigint), cast(${row.outputTokens} as bigint), cast(${row.reasoningTokens} as bigint),
    cast(${row.videoSeconds} as bigint), cast(${row.cost} as bigint)
  )`

/** Adds what is new in a row to all its roll-ups. */
const collect = (row: UsageRow, additions: Map<string, Addition>): void => {
  const rolled = rolledOf(row)
  const [kind, kindBefore] = [kindOf(row), kindOf(rolled)]
  for (const level of rollupLevels) {
    for (const period of isDaily(level) ? [row.day.slice(0, 7), row.day] : [row.day.slice(0, 7)]) {
      const add = (of: Kind, sums: Sums) => {
        const addition = { ...keyOf(row, level), level, period, kind: of, sums }
        // NUL as the separator: storable text does not contain it.
        const key = [level, period, of, ...rollupColumns.map((column) => addition[column])].join('\0')
        const known = additions.get(key)
        additions.set(key, known ? { ...known, sums: combine(known.sums, sums, 1) } : addition)
      }
      if (rolled.calls > 0 && kind !== kindBefore) {
        // The first video of a model that had text only: all of the row counts as video from now on.
        add(kindBefore, combine(noSums, rolled, -1))
        add(kind, row)
      } else add(kind, combine(row, rolled, -1))
    }
  }
}

const rolledOf = (row: UsageRow): Sums => ({
  calls: row.rolledCalls,
  unreported: row.rolledUnreported,
  inputTokens: row.rolledInputTokens,
  cachedTokens: row.rolledCachedTokens,
  outputTokens: row.rolledOutputTokens,
  reasoningTokens: row.rolledReasoningTokens,
  ...(row.rolledVideoSeconds !== undefined && { videoSeconds: row.rolledVideoSeconds }),
  ...(row.rolledCost !== undefined && { cost: row.rolledCost }),
})

const noSums: Sums = {
  ...{ calls: 0, unreported: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
}

const kindOf = ({ videoSeconds }: Sums): Kind => (videoSeconds === undefined ? 'text' : 'video')

const keyOf = (row: UsageRow, level: RollupLevel): Record<RollupColumn, string> => {
  const key = { user: '', token: '', model: '', team: '' }
  for (const column of columnsOf[level]) key[column] = row[column]
  return key
}

const combine = (a: Sums, b: Sums, sign: 1 | -1): Sums => {
  const videoSeconds = combineOptional(a.videoSeconds, b.videoSeconds, sign)
  const cost = combineOptional(a.cost, b.cost, sign)
  return {
    calls: a.calls + sign * b.calls,
    unreported: a.unreported + sign * b.unreported,
    inputTokens: a.inputTokens + sign * b.inputTokens,
    cachedTokens: a.cachedTokens + sign * b.cachedTokens,
    outputTokens: a.outputTokens + sign * b.outputTokens,
    reasoningTokens: a.reasoningTokens + sign * b.reasoningTokens,
    ...(videoSeconds !== undefined && { videoSeconds }),
    ...(cost !== undefined && { cost }),
  }
}

const combineOptional = (a: number | undefined, b: number | undefined, sign: 1 | -1): number | undefined =>
  b === undefined ? a : (a ?? 0) + sign * b

const addToRollups = (additions: readonly Addition[]): Statement =>
  joinClauses(
    clause`
      insert into usage_rollups (
        grain, level, user_id, token_id, model, team_id, period, kind, calls, unreported, input_tokens, cached_tokens,
        output_tokens, reasoning_tokens, video_seconds, cost
      )
      values `,
    ...withCommas(additions.map(addedRow)),
    clause`
      on conflict (grain, level, user_id, token_id, model, team_id, period, kind) do update
      set calls = usage_rollups.calls + excluded.calls,
        unreported = usage_rollups.unreported + excluded.unreported,
        input_tokens = usage_rollups.input_tokens + excluded.input_tokens,
        cached_tokens = usage_rollups.cached_tokens + excluded.cached_tokens,
        output_tokens = usage_rollups.output_tokens + excluded.output_tokens,
        reasoning_tokens = usage_rollups.reasoning_tokens + excluded.reasoning_tokens,
        video_seconds = coalesce(
          usage_rollups.video_seconds + excluded.video_seconds, usage_rollups.video_seconds, excluded.video_seconds
        ),
        cost = coalesce(usage_rollups.cost + excluded.cost, usage_rollups.cost, excluded.cost)`,
  )

const addedRow = ({ level, user, token, model, team, period, kind, sums }: Addition): Statement => clause`
  (
    ${period.length === 7 ? 'month' : 'day'}, ${level}, ${user}, ${token}, ${model}, ${team}, ${period}, ${kind},
    ${sums.calls}, ${sums.unreported}, ${sums.inputTokens}, ${sums.cachedTokens}, ${sums.outputTokens},
    ${sums.reasoningTokens}, ${sums.videoSeconds}, ${sums.cost}
  )`
