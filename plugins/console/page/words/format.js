import { locale } from './words.js'

/**
 * A formatter that is made when it is first used. Making one takes milliseconds on a phone, and no screen needs all of
 * them.
 * @template Formatter
 * @param {() => Formatter} make
 */
const whenUsed = (make) => {
  /** @type {Formatter | undefined} */
  let formatter
  return () => {
    formatter ??= make()
    return formatter
  }
}

/** A formatter of times, made when it is first used. @param {Intl.DateTimeFormatOptions} options */
export const dates = (options) => whenUsed(() => new Intl.DateTimeFormat(locale, options))
/** A formatter of numbers, made when it is first used. @param {Intl.NumberFormatOptions} [options] */
export const numbers = (options) => whenUsed(() => new Intl.NumberFormat(locale, options))

const date = dates({ dateStyle: 'medium' })
const dateTime = dates({ dateStyle: 'medium', timeStyle: 'short' })
const day = dates({ dateStyle: 'medium', timeZone: 'UTC' })
const shortDay = dates({ day: 'numeric', month: 'short', timeZone: 'UTC' })
const compact = numbers({ notation: 'compact' })
const number = numbers()
const wholeCost = numbers({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
const cost = numbers({ minimumFractionDigits: 2, maximumFractionDigits: 6 })

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
export const formatDate = (time) => date().format(time)
/** @param {Date} time */
export const formatTime = (time) => dateTime().format(time)
/**
 * A day in UTC.
 * @param {string} text `YYYY-MM-DD`
 */
export const formatDay = (text) => {
  const time = parseTime(`${text}T00:00:00Z`)
  return time ? day().format(time) : text
}
/**
 * A day in UTC without its year.
 * @param {string} text `YYYY-MM-DD`
 */
export const formatShortDay = (text) => {
  const time = parseTime(`${text}T00:00:00Z`)
  return time ? shortDay().format(time) : text
}
/** A number in few characters, such as 12K. @param {number} value */
export const formatCompact = (value) => compact().format(value)
/** @param {number} value */
export const formatNumber = (value) => number().format(value)
/**
 * An amount in the operator's currency, which the console does not know.
 * @param {number} value
 */
export const formatCost = (value) => (Math.abs(value) < 1 ? cost : wholeCost)().format(value)

/**
 * A length of a file, as `1.5 MB`.
 * @param {number} bytes
 */
export const formatBytes = (bytes) => {
  const [unit, power] = bytes < 1_000_000 ? ['kilobyte', 1] : ['megabyte', 2]
  return new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 }).format(bytes / 1000 ** power)
}

/**
 * An estimated time, in words: seconds, or whole minutes.
 * @param {number} seconds
 */
export const formatDuration = (seconds) => {
  const isShort = seconds < 90
  const unit = isShort ? 'second' : 'minute'
  const value = Math.max(1, Math.round(isShort ? seconds : seconds / 60))
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
}

/**
 * Minutes and seconds, as `29:05`.
 * @param {number} ms
 */
export const formatCountdown = (ms) => {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
