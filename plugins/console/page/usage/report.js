import { t } from './words.js'

/**
 * @typedef {object} Row
 * @property {string} day `YYYY-MM-DD`, UTC
 * @property {{ id: string, label: string | null, start: string | null } | null} token
 * @property {string} model
 * @property {number} calls
 * @property {number} unreported
 * @property {number} input_tokens
 * @property {number} cached_tokens
 * @property {number} output_tokens
 * @property {number} reasoning_tokens
 * @property {number | null} video_seconds null: no videos
 * @property {number | null} cost in the operator's currency; null: no price
 */
/** @typedef {'day' | 'token' | 'model'} Dimension */
/** @typedef {Omit<Row, 'day' | 'token' | 'model'>} Sum */

/**
 * @param {Row} row
 * @param {readonly Dimension[]} dimensions
 */
export const keyOf = ({ day, token, model }, dimensions) => {
  const values = { day, model, token: token?.id ?? '' }
  return JSON.stringify(dimensions.map((dimension) => values[dimension]))
}

/**
 * Sums up the rows that have the same values in the given dimensions. The latest day comes first, then the most tokens.
 * @param {readonly Row[]} rows
 * @param {readonly Dimension[]} dimensions
 * @returns {readonly Row[]}
 */
export const grouped = (rows, dimensions) =>
  [...Map.groupBy(rows, (row) => keyOf(row, dimensions)).values()]
    .map((group) => ({ .../** @type {Row} */ (group[0]), ...sum(group) }))
    .sort((a, b) => {
      const latest = dimensions.includes('day') ? b.day.localeCompare(a.day) : 0
      return latest || b.input_tokens + b.output_tokens - (a.input_tokens + a.output_tokens)
    })

/**
 * @param {readonly Sum[]} rows
 * @returns {Sum}
 */
export const sum = (rows) => {
  const counts = { calls: 0, unreported: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 }
  /** @type {number | null} */
  let video_seconds = null
  /** @type {number | null} */
  let cost = null
  for (const row of rows) {
    for (const name of /** @type {(keyof typeof counts)[]} */ (Object.keys(counts))) counts[name] += row[name]
    if (row.video_seconds !== null) video_seconds = (video_seconds ?? 0) + row.video_seconds
    if (row.cost !== null) cost = (cost ?? 0) + row.cost
  }
  return { ...counts, video_seconds, cost }
}

/** Whether a row is of videos. @param {Row} row */
export const isVideo = ({ video_seconds }) => video_seconds !== null

/** @typedef {{ name: string, values: readonly number[] }} Series */

/**
 * The values of each day, by model: the models with the highest sums, and all others in one.
 * @param {readonly Row[]} rows
 * @param {readonly string[]} days
 * @param {{ measure: (row: Row) => number, max: number }} options `max`: the most series
 * @returns {readonly Series[]}
 */
export const seriesOf = (rows, days, { measure, max }) => {
  const places = new Map(days.map((day, at) => [day, at]))
  const byModel = [...Map.groupBy(rows, ({ model }) => model)]
    .map(([name, group]) => {
      const values = days.map(() => 0)
      for (const row of group) {
        const at = places.get(row.day)
        if (at !== undefined) values[at] = (values[at] ?? 0) + measure(row)
      }
      return { name, values, total: values.reduce((sum, value) => sum + value, 0) }
    })
    .filter(({ total }) => total > 0)
    .sort((a, b) => b.total - a.total)
  if (byModel.length <= max) return byModel
  const shown = byModel.slice(0, max - 1)
  const rest = byModel.slice(max - 1)
  const values = days.map((_, at) => rest.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  return [...shown, { name: t.usage.otherModels, values }]
}
