import { Buffer } from 'node:buffer'
import type { DailyUsage } from '../../../plugins/account/usage.ts'
import type { UsageSumStore } from '../../../plugins/admin/usage-sums.ts'
import { nextTurn } from '../../../plugins/shared/background/turns.ts'
import type { Clock } from '../../../plugins/shared/clock.ts'
import { hasNoSpace } from '../../../plugins/shared/no-space.ts'
import type { Log } from '../../../plugins/shared/problem.ts'
import { compareTexts } from '../../../plugins/shared/text.ts'
import type { UsageEntry } from '../../../plugins/text-generation/usage/usage.ts'
import { type Database, withoutDisk } from '../database/database.ts'
import { UniqueViolationError } from '../database/error.ts'
import { fragment, type Statement, sql, toColumnValue } from '../database/statement.ts'
import { type UsageBatch, UsageBuffer, type UsageSum } from './usage-buffer.ts'
import { UsageRollup } from './usage-rollup.ts'
import { createUsageSums } from './usage-sums.ts'
import { sweepUsage } from './usage-sweep.ts'

/** Usage of one user, token, model and day. The store also knows the labels and the starts of deleted tokens. */
export interface Usage extends DailyUsage {
  /** Id of the user. */
  readonly user: string
  /** Undefined for users of a host app. */
  readonly userName?: string
}

/** Which usage to list. */
export interface UsageFilter {
  /** Id of a user. Default: all users. */
  readonly user?: string | undefined
  /** First day, inclusive, `YYYY-MM-DD` in UTC. Default: no bound. */
  readonly since?: string | undefined
  /** Last day, inclusive. Default: no bound. */
  readonly until?: string | undefined
}

/**
 * Models of one token on one day. Further ones count as `other`.
 *
 * Callers choose the model names, and some upstreams accept unknown ones, so the number and the length of names need a
 * bound. Processes that write at the same moment may exceed the number; the sums stay exact.
 */
const maxModels = 100
/** Rows that one statement lists: SQLite answers nothing else meanwhile. */
const stepRows = 500
/** Longest model name. Unicode code points. */
const maxModelCharacters = 256
/**
 * Length of the ids of user and token together. With a model and a day they then fit into a row of a PostgreSQL index
 * (2,704 bytes). A longer row would make its whole batch fail for ever.
 */
const maxIdBytes = 1_500

/** Options of `usage`. */
export interface UsageOptions {
  readonly clock?: Clock
  /** Receives an error when usage cannot be written or is lost. Default: no log. */
  readonly log?: Log
}

/** Recording and listing of usage. */
export interface UsageRecords extends UsageSumStore {
  /**
   * Counts a call. It is written 50 ms later, or as soon as the database is reachable.
   *
   * Until then memory holds it: at most 10,000 sums; beyond that, calls that need a new sum are lost. Throws TypeError
   * for text that a database would not store: NUL, lone surrogates, ids of more than 1,500 bytes.
   */
  recordUsage(entry: UsageEntry): void
  /** Writes all recorded calls at once. Rejects when the database request fails; the store then retries later. */
  flushUsage(): Promise<void>
  /**
   * Flushes, then lists usage by day, user name (id if there is no name), token and model. It includes deleted tokens
   * and users. While the database has no room, it lists what was written before.
   */
  listUsage(filter?: UsageFilter): Promise<readonly Usage[]>
  /**
   * Deletes the oldest rows from before a day (`YYYY-MM-DD`), at most `max` in one transaction, which takes them away
   * from the sums of reports, too. Returns their number: fewer than `max` when none is left.
   */
  sweepUsage(before: string, max: number): Promise<number>
  /** Adds what was written to the sums by month and day, soon. Reports do it, too, so that none misses anything. */
  rollUpUsage(): void
  /** Writes the buffered calls if the database is reachable. Later calls are lost. Never rejects. */
  closeUsage(): Promise<void>
}

const selectUsage = fragment`
  select text_usage.user_id as "user", users.name as "userName", nullif(text_usage.token_id, '') as token,
    coalesce(tokens.label, deleted_names.name) as "tokenLabel",
    coalesce(tokens.start, deleted_names.start) as "tokenStart", text_usage.model, text_usage.day,
    text_usage.calls, text_usage.unreported, text_usage.input_tokens as "inputTokens",
    text_usage.cached_tokens as "cachedTokens", text_usage.output_tokens as "outputTokens",
    text_usage.reasoning_tokens as "reasoningTokens", text_usage.video_seconds as "videoSeconds",
    text_usage.cost
  from text_usage
  left join users on users.id = text_usage.user_id
  left join tokens on tokens.id = text_usage.token_id
  left join deleted_names on deleted_names.kind = 'token' and deleted_names.id = text_usage.token_id`

/** Usage of text generation: one row for each user, token, model and day. */
export const createUsageStore = (database: Database, options: UsageOptions = {}): UsageRecords => {
  const buffer = new UsageBuffer({
    ...options,
    // A duplicate batch id: an earlier attempt, whose outcome was unknown, has written the batch.
    // There are twenty a second, and to wait for the disk that often would delay many other requests. Roll-ups wait, so
    // that a power failure undoes the usage of two seconds.
    write: (batch) =>
      withoutDisk(database)
        .batch(statementsOf(batch))
        .then(() => {}, ignoreDuplicateBatch),
  })
  const rollup = new UsageRollup(database, options)
  /** While the database has no room, reports have what was written before. */
  const flush = () =>
    buffer.flush().catch((error: unknown) => {
      if (!hasNoSpace(error)) throw error
    })
  return {
    recordUsage(entry) {
      const { user, token = '' } = entry
      toColumnValue(user)
      toColumnValue(token)
      // A UTF-16 unit has at most three bytes in UTF-8, so most ids need no byte count.
      if ((user.length + token.length) * 3 > maxIdBytes && Buffer.byteLength(user + token) > maxIdBytes) {
        throw new TypeError(`ids of a user and a token must not exceed ${maxIdBytes} bytes together`)
      }
      buffer.add({ ...entry, model: modelName(entry.model) })
    },

    flushUsage: () => buffer.flush(),

    ...createUsageSums(database, { rollup, flush }),

    sweepUsage: (before, max) => database.transaction(() => sweepUsage(before, max)),

    rollUpUsage: () => rollup.start(),

    closeUsage() {
      rollup.close()
      return buffer.close()
    },

    async listUsage({ user, since = '', until = '9999-12-31' } = {}) {
      await flush()
      const found: Usage[] = []
      for (let last: Usage | undefined; ; await nextTurn()) {
        const { day = since, token = '', model = '' } = last ?? {}
        const rows = await database.query<Usage>(
          user === undefined
            ? sql`
                ${selectUsage}
                where (text_usage.day, text_usage.user_id, text_usage.token_id, text_usage.model)
                  > (${day}, ${last?.user ?? ''}, ${token}, ${model})
                and text_usage.day <= ${until}
                order by text_usage.day, text_usage.user_id, text_usage.token_id, text_usage.model
                limit ${stepRows}`
            : sql`
                ${selectUsage}
                where text_usage.user_id = ${user}
                and (text_usage.day, text_usage.token_id, text_usage.model) > (${day}, ${token}, ${model})
                and text_usage.day <= ${until}
                order by text_usage.day, text_usage.token_id, text_usage.model
                limit ${stepRows}`,
        )
        for (const row of rows) found.push(row)
        last = rows.at(-1)
        if (rows.length < stepRows) break
      }
      // Sorted here, because PostgreSQL and SQLite collate text differently.
      return found.sort(
        (a, b) =>
          compareTexts(a.day, b.day) ||
          compareTexts(a.userName ?? a.user, b.userName ?? b.user) ||
          compareTexts(a.token ?? '', b.token ?? '') ||
          compareTexts(a.model, b.model),
      )
    },
  }
}

/** How long the id of a batch is kept. No process retries a batch for that long. */
const batchIdKeptMs = 30 * 86_400_000

/**
 * The transaction of a batch: its id and its rows. The id of the previous batch is no longer needed, because that batch
 * is known to be written.
 */
const statementsOf = ({ id, previous, at, sums }: UsageBatch): readonly Statement[] => [
  sql`insert into text_usage_batches (id, at) values (${id}, ${at})`,
  sql`delete from text_usage_batches where id = ${previous} or at <= ${at - batchIdKeptMs}`,
  // Always in the same order: two batches with the same rows cannot deadlock.
  ...sums.toSorted((a, b) => compareTexts(rowKeyOf(a), rowKeyOf(b))).map(addUsage),
]

const ignoreDuplicateBatch = (error: unknown): void => {
  if (!(error instanceof UniqueViolationError)) throw error
}

const rowKeyOf = ({ user, token, day, model }: UsageSum): string => [user, token, day, model].join(' ')

/** Adds usage to that of its user, token, day and model. */
// Without `where true`, SQLite would parse `on conflict` as a join condition (https://www.sqlite.org/lang_upsert.html,
// "Parsing Ambiguity").
export const addUsage = ({
  user,
  token,
  day,
  model,
  ...sum
}: UsageSum & { readonly videoSeconds?: number }): Statement => sql`
  insert into text_usage (
    user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
    video_seconds, cost, team_id
  )
  select ${user}, ${token}, ${day},
    case
      when exists (
        select 1
        from text_usage known
        where known.user_id = ${user}
        and known.token_id = ${token}
        and known.day = ${day}
        and known.model = ${model}
      )
      or (
        select count(*)
        from text_usage known
        where known.user_id = ${user}
        and known.token_id = ${token}
        and known.day = ${day}
      ) < ${maxModels}
      then ${model}
      else 'other'
    end,
    ${sum.calls}, ${sum.unreported}, ${sum.input}, ${sum.cachedInput}, ${sum.output}, ${sum.reasoning},
    ${sum.videoSeconds}, ${sum.cost},
    (
      select team_id
      from users
      where id = ${user}
    )
  where true
  on conflict (user_id, token_id, day, model) do update
  set calls = text_usage.calls + excluded.calls,
    unreported = text_usage.unreported + excluded.unreported,
    input_tokens = text_usage.input_tokens + excluded.input_tokens,
    cached_tokens = text_usage.cached_tokens + excluded.cached_tokens,
    output_tokens = text_usage.output_tokens + excluded.output_tokens,
    reasoning_tokens = text_usage.reasoning_tokens + excluded.reasoning_tokens,
    video_seconds = coalesce(
      text_usage.video_seconds + excluded.video_seconds, text_usage.video_seconds, excluded.video_seconds
    ),
    cost = coalesce(text_usage.cost + excluded.cost, text_usage.cost, excluded.cost)`

const usageStrings = addUsage({
  ...{ user: '', token: '', day: '', model: '', calls: 0, unreported: 0 },
  ...{ input: 0, cachedInput: 0, output: 0, reasoning: 0 },
}).strings

/** Whether a transaction has added usage. */
export const addsUsage = (statements: readonly Statement[]): boolean =>
  statements.some(({ strings }) => strings === usageStrings)

/**
 * Shortens a model name to 256 code points, and replaces what a database cannot store. The first cut avoids work on a
 * very long name.
 */
export const modelName = (model: string): string => {
  if (usualName.test(model)) return model
  const wellFormed = model.slice(0, 2 * maxModelCharacters).toWellFormed()
  return [...wellFormed.replace(/\p{Cc}/gu, '\ufffd')].slice(0, maxModelCharacters).join('')
}

/** As nearly all names are. */
const usualName = /^[\x20-\x7e]{0,256}$/
