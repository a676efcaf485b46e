import type { UsageStore } from '../../plugins/text-generation/usage.ts'
import { type Database, sql } from './database.ts'

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
 * a day, further ones count for `other`. Calls at the same moment may exceed that by their number; sums are exact all the same.
 */
const mostModels = 100
/** Unicode code points. */
const mostCharacters = 256

/** Usage of text generation, a row for each user, token, model and day. */
export const usage = (
  database: Database,
): UsageStore & { listUsage(filter?: UsageFilter): Promise<readonly Usage[]> } => ({
  async recordUsage({ user, token = '', model, at, tokens }) {
    const name = readable(model)
    const day = new Date(at).toISOString().slice(0, 10)
    const { input = 0, cachedInput = 0, output = 0, reasoning = 0 } = tokens ?? {}
    // Without its `where`, SQLite would take `on conflict` for the condition of a join.
    await database.query(sql`
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
            and known.model = ${name}
          )
          or (
            select count(*)
            from text_usage known
            where known.user_id = ${user}
            and known.token_id = ${token}
            and known.day = ${day}
          ) < ${mostModels}
          then ${name}
          else 'other'
        end,
        1, ${tokens ? 0 : 1}, ${input}, ${cachedInput}, ${output}, ${reasoning}
      where true
      on conflict (user_id, token_id, day, model) do update
      set calls = text_usage.calls + excluded.calls,
        unreported = text_usage.unreported + excluded.unreported,
        input_tokens = text_usage.input_tokens + excluded.input_tokens,
        cached_tokens = text_usage.cached_tokens + excluded.cached_tokens,
        output_tokens = text_usage.output_tokens + excluded.output_tokens,
        reasoning_tokens = text_usage.reasoning_tokens + excluded.reasoning_tokens`)
  },

  /** By day, name of the user (its id, where there is none), token, model. Tokens and users need not exist any more. */
  async listUsage({ user, since = '', until = '9999-12-31' } = {}) {
    const found = await database.query<Usage>(sql`
      select text_usage.user_id as "user", users.name as "userName", nullif(text_usage.token_id, '') as token,
        tokens.label as "tokenLabel", tokens.start as "tokenStart", text_usage.model, text_usage.day,
        text_usage.calls, text_usage.unreported, text_usage.input_tokens as "inputTokens",
        text_usage.cached_tokens as "cachedTokens", text_usage.output_tokens as "outputTokens",
        text_usage.reasoning_tokens as "reasoningTokens"
      from text_usage
      left join users on users.id = text_usage.user_id
      left join tokens on tokens.id = text_usage.token_id
      where text_usage.user_id = coalesce(${user}, text_usage.user_id)
      and text_usage.day >= ${since}
      and text_usage.day <= ${until}`)
    // Not in the statement: databases differ in the order of texts.
    return found.sort(
      (a, b) =>
        compare(a.day, b.day) ||
        compare(a.userName ?? a.user, b.userName ?? b.user) ||
        compare(a.token ?? '', b.token ?? '') ||
        compare(a.model, b.model),
    )
  },
})

/** A name that databases keep, and that stays in its column. A character has at most two units: the cut before spares the rest the length. */
const readable = (model: string): string => {
  const wellFormed = model.slice(0, 2 * mostCharacters).toWellFormed()
  return [...wellFormed.replace(/\p{Cc}/gu, '\ufffd')].slice(0, mostCharacters).join('')
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
