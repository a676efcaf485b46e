import { Buffer } from 'node:buffer'
import type { Clock } from '../../plugins/shared/clock.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import type { UsageEntry } from '../../plugins/text-generation/usage.ts'
import { type Database, type Statement, sql, storable } from './database.ts'
import { UniqueViolationError } from './error.ts'
import { type UsageBatch, UsageBuffer, type UsageSum } from './usage-buffer.ts'

/** What a user spent with a token on a model in a day. */
export interface Usage {
  /** Id of the user. */
  readonly user: string
  /** Undefined for users of a host app. */
  readonly userName?: string
  /** Id of the token. Undefined for calls without one. */
  readonly token?: string
  /** Where the store has that token. */
  readonly tokenLabel?: string
  /** First characters of the token, where the store has it. */
  readonly tokenStart?: string
  readonly model: string
  /** Day in UTC, `YYYY-MM-DD`. */
  readonly day: string
  /** All calls. */
  readonly calls: number
  /** Those of them whose tokens the upstream did not report. */
  readonly unreported: number
  readonly inputTokens: number
  /** Part of `inputTokens`. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number
}

export interface UsageFilter {
  /** Id of a user. Default all. */
  readonly user?: string
  /** First day, `YYYY-MM-DD` in UTC. Default the first there is. */
  readonly since?: string
  /** Last day, itself included. Default the last there is. */
  readonly until?: string
}

/**
 * Callers name models as they like, and not every upstream refuses a name that it does not know. So names are cut, and once a token has this many models on
 * a day, further ones count for `other`. Processes that write at the same moment may exceed that; sums are exact all the same.
 */
const mostModels = 100
/** Unicode code points. */
const mostCharacters = 256
/** With a model and a day they fit into a row of PostgreSQL's index, of 2,704 bytes: what does not would never be written, nor would anything that it is written with. */
const mostIdBytes = 1_500

export interface UsageOptions {
  readonly clock?: Clock
  /** Told when usage cannot be written, and when some of it is lost. Default: nobody is. */
  readonly log?: Log
}

export interface UsageRecords {
  /**
   * Counts a call, which is in the database 50 ms later, or as soon as that answers; until then it is kept in memory: 10,000 sums at most, beyond which further calls
   * are lost. Throws TypeError for text that a database would not keep: NUL, lone surrogates, ids of more than 1,500 bytes.
   */
  recordUsage(entry: UsageEntry): void
  /** Writes at once what has been recorded so far. Rejects when the database cannot be asked; then it is tried again. */
  flushUsage(): Promise<void>
  /** What this store recorded is in it. By day, name of the user (its id, where there is none), token, model. Tokens and users need not exist any more. */
  listUsage(filter?: UsageFilter): Promise<readonly Usage[]>
  /** Writes what has been recorded, as far as the database takes it. Later calls are lost. Never rejects. */
  closeUsage(): Promise<void>
}

/** Usage of text generation, a row for each user, token, model and day. */
export const usage = (database: Database, options: UsageOptions = {}): UsageRecords => {
  const buffer = new UsageBuffer({
    ...options,
    // Its id is taken: an attempt of which nothing was heard has written it.
    write: (batch) => database.batch(statementsOf(batch)).then(() => {}, unlessTaken),
  })
  return {
    recordUsage(entry) {
      const { user, token = '' } = entry
      storable(user)
      storable(token)
      // A character has three bytes at most for each of its units: hardly any id is counted.
      if ((user.length + token.length) * 3 > mostIdBytes && Buffer.byteLength(user + token) > mostIdBytes) {
        throw new TypeError(`ids of a user and a token must not exceed ${mostIdBytes} bytes together`)
      }
      buffer.add({ ...entry, model: modelName(entry.model) })
    },

    flushUsage: () => buffer.flush(),

    closeUsage: () => buffer.close(),

    async listUsage({ user, since = '', until = '9999-12-31' } = {}) {
      await buffer.flush()
      const found = await database.query<Usage>(
        user === undefined
          ? sql`
              select text_usage.user_id as "user", users.name as "userName", nullif(text_usage.token_id, '') as token,
                tokens.label as "tokenLabel", tokens.start as "tokenStart", text_usage.model, text_usage.day,
                text_usage.calls, text_usage.unreported, text_usage.input_tokens as "inputTokens",
                text_usage.cached_tokens as "cachedTokens", text_usage.output_tokens as "outputTokens",
                text_usage.reasoning_tokens as "reasoningTokens"
              from text_usage
              left join users on users.id = text_usage.user_id
              left join tokens on tokens.id = text_usage.token_id
              where text_usage.day >= ${since}
              and text_usage.day <= ${until}`
          : sql`
              select text_usage.user_id as "user", users.name as "userName", nullif(text_usage.token_id, '') as token,
                tokens.label as "tokenLabel", tokens.start as "tokenStart", text_usage.model, text_usage.day,
                text_usage.calls, text_usage.unreported, text_usage.input_tokens as "inputTokens",
                text_usage.cached_tokens as "cachedTokens", text_usage.output_tokens as "outputTokens",
                text_usage.reasoning_tokens as "reasoningTokens"
              from text_usage
              left join users on users.id = text_usage.user_id
              left join tokens on tokens.id = text_usage.token_id
              where text_usage.user_id = ${user}
              and text_usage.day >= ${since}
              and text_usage.day <= ${until}`,
      )
      // Not in the statement: databases differ in the order of texts.
      return found.sort(
        (a, b) =>
          compare(a.day, b.day) ||
          compare(a.userName ?? a.user, b.userName ?? b.user) ||
          compare(a.token ?? '', b.token ?? '') ||
          compare(a.model, b.model),
      )
    },
  }
}

/** Nobody tries a batch again that long after its first attempt. */
const batchKeptMs = 30 * 86_400_000

/** A batch and its id, in one transaction. The one before it is known to be written, so nobody asks for its id any more. */
const statementsOf = ({ id, previous, at, sums }: UsageBatch): readonly Statement[] => [
  sql`insert into text_usage_batches (id, at) values (${id}, ${at})`,
  sql`delete from text_usage_batches where id = ${previous} or at <= ${at - batchKeptMs}`,
  // Always in one order: of two batches with the same rows none waits for the other.
  ...sums.toSorted((a, b) => compare(placeOf(a), placeOf(b))).map(addition),
]

const unlessTaken = (error: unknown): void => {
  if (!(error instanceof UniqueViolationError)) throw error
}

const placeOf = ({ user, token, day, model }: UsageSum): string => [user, token, day, model].join(' ')

// Without its `where`, SQLite would take `on conflict` for the condition of a join.
const addition = ({ user, token, day, model, ...sum }: UsageSum): Statement => sql`
  insert into text_usage (
    user_id, token_id, day, model, calls, unreported, input_tokens, cached_tokens, output_tokens, reasoning_tokens
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
      ) < ${mostModels}
      then ${model}
      else 'other'
    end,
    ${sum.calls}, ${sum.unreported}, ${sum.input}, ${sum.cachedInput}, ${sum.output}, ${sum.reasoning}
  where true
  on conflict (user_id, token_id, day, model) do update
  set calls = text_usage.calls + excluded.calls,
    unreported = text_usage.unreported + excluded.unreported,
    input_tokens = text_usage.input_tokens + excluded.input_tokens,
    cached_tokens = text_usage.cached_tokens + excluded.cached_tokens,
    output_tokens = text_usage.output_tokens + excluded.output_tokens,
    reasoning_tokens = text_usage.reasoning_tokens + excluded.reasoning_tokens`

/** A name that databases keep, and that stays in its column. A character has at most two units: the cut before spares the rest the length. */
export const modelName = (model: string): string => {
  const wellFormed = model.slice(0, 2 * mostCharacters).toWellFormed()
  return [...wellFormed.replace(/\p{Cc}/gu, '\ufffd')].slice(0, mostCharacters).join('')
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
