/**
 * A sum of usage. Members by which it is not summed are absent.
 * @typedef {object} UsageRow
 * @property {string} [day]
 * @property {string} [user]
 * @property {string | null} [user_name]
 * @property {string | null} [team]
 * @property {string | null} [team_name]
 * @property {string | null} [token]
 * @property {string | null} [token_name]
 * @property {string | null} [token_start]
 * @property {string} [model]
 * @property {number} calls
 * @property {number} unreported
 * @property {number} input_tokens
 * @property {number} cached_tokens
 * @property {number} output_tokens
 * @property {number} reasoning_tokens
 * @property {number | null} video_seconds
 * @property {number | null} cost
 */

/** @typedef {'cost' | 'tokens' | 'calls' | 'video_seconds'} Figure */

/**
 * @param {UsageRow} row
 * @param {Figure} figure
 */
export const figureOf = (row, figure) =>
  figure === 'tokens' ? row.input_tokens + row.output_tokens : (row[figure] ?? 0)

const dayMs = 86_400_000

/**
 * The day in UTC, `YYYY-MM-DD`, some days before a time.
 * @param {number} now
 * @param {number} before
 */
export const dayBefore = (now, before) => new Date(now - before * dayMs).toISOString().slice(0, 10)

/**
 * All days from one to another.
 * @param {string} since
 * @param {string} until
 */
export const daysBetween = (since, until) => {
  const first = Date.parse(`${since}T00:00:00Z`)
  const count = Math.round((Date.parse(`${until}T00:00:00Z`) - first) / dayMs) + 1
  return Array.from({ length: Math.max(0, Math.min(400, count)) }, (_, at) =>
    new Date(first + at * dayMs).toISOString().slice(0, 10),
  )
}

/**
 * The series of a plot: the models with the highest sums, and all others together.
 * @param {readonly UsageRow[]} rows by day and model
 * @param {readonly string[]} days
 * @param {{ figure: Figure, max: number, others: string }} options
 */
export const seriesOf = (rows, days, { figure, max, others }) => {
  /** @type {Map<string, number>} */
  const sums = new Map()
  for (const row of rows) sums.set(row.model ?? '', (sums.get(row.model ?? '') ?? 0) + figureOf(row, figure))
  const ordered = [...sums]
    .filter(([, sum]) => sum > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([model]) => model)
  const own = ordered.length > max ? ordered.slice(0, max - 1) : ordered
  const names = ordered.length > max ? [...own, others] : own
  const values = new Map(names.map((name) => [name, days.map(() => 0)]))
  const places = new Map(days.map((day, at) => [day, at]))
  for (const row of rows) {
    const list = values.get(own.includes(row.model ?? '') ? (row.model ?? '') : others)
    const at = places.get(row.day ?? '')
    if (list && at !== undefined) list[at] = (list[at] ?? 0) + figureOf(row, figure)
  }
  return [...values].map(([name, list]) => ({ name, values: list }))
}

/** The parameters of the usage screen for one token. @param {string} token id */
export const usageOfToken = (token) => ({ token, range: '30', by: 'day,model' })
