import { locale } from './strings.js'

const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
const number = new Intl.NumberFormat(locale)
const cost = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 6 })

/**
 * Parses a time of the API; without a time zone it is UTC. Undefined when it is not a time.
 * @param {unknown} text
 */
export const parseTime = (text) => {
  if (typeof text !== 'string') return undefined
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`
  const time = new Date(zoned.replace(' ', 'T'))
  return Number.isNaN(time.getTime()) ? undefined : time
}

/** @param {Date} time */
export const formatDate = (time) => date.format(time)
/** @param {Date} time */
export const formatTime = (time) => dateTime.format(time)
/**
 * A day in UTC.
 * @param {string} text `YYYY-MM-DD`
 */
export const formatDay = (text) => {
  const time = parseTime(`${text}T00:00:00Z`)
  return time ? day.format(time) : text
}
/** @param {number} value */
export const formatNumber = (value) => number.format(value)
/**
 * An amount in the operator's currency, which the console does not know.
 * @param {number} value
 */
export const formatCost = (value) => cost.format(value)

const byteUnits = /** @type {const} */ (['byte', 'kilobyte', 'megabyte', 'gigabyte'])

/**
 * A length of a file, as `1.5 MB`.
 * @param {number} bytes
 */
export const formatBytes = (bytes) => {
  const power = bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log10(bytes) / 3))
  const maximumFractionDigits = power === 0 ? 0 : 1
  const format = { style: /** @type {const} */ ('unit'), unit: byteUnits[power], maximumFractionDigits }
  return new Intl.NumberFormat(locale, format).format(bytes / 1000 ** power)
}

/**
 * Minutes and seconds, as `29:05`.
 * @param {number} ms
 */
export const formatCountdown = (ms) => {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
