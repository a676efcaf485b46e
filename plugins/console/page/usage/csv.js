/** @typedef {import('./report.js').Row} Row */

const columns = /** @type {const} */ ([
  ...['calls', 'unreported', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'],
  ...['video_seconds', 'cost'],
])

/**
 * The rows as CSV (RFC 4180), with a line for the names of the columns.
 * @param {readonly Row[]} rows
 */
export const csvOf = (rows) => {
  const lines = rows.map((row) => [
    ...[row.day, row.token?.label ?? row.token?.start ?? '', row.model],
    ...columns.map((name) => row[/** @type {keyof import('./report.js').Sum} */ (name)] ?? ''),
  ])
  return [['day', 'token', 'model', ...columns], ...lines].map((line) => `${line.map(cellOf).join(',')}\r\n`).join('')
}

/**
 * A program that opens the file must not run a text as a formula
 * (https://owasp.org/www-community/attacks/CSV_Injection).
 * @param {string | number} value
 */
const cellOf = (value) => {
  if (typeof value === 'number') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
