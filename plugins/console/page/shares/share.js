import { paths } from '../api/paths.js'

/**
 * To whom a group is lent. Either `User` or `Team`.
 * @typedef {object} Share
 * @property {string} Id
 * @property {string} [User] id
 * @property {string} [Team] name
 * @property {'read' | 'use'} Access
 * @property {string} CreateTime
 * @property {string} [ExpireTime] absent: until it is ended
 * @property {string} [LastUseTime]
 */

/** @param {string} group id */
export const sharesPath = (group) => `${paths.shares}/${encodeURIComponent(group)}/shares`

/** The last day of a share, in the time of the browser, as `YYYY-MM-DD`. @param {Share} share */
export const lastDayOf = ({ ExpireTime }) => {
  const time = new Date(ExpireTime ?? Number.NaN)
  if (Number.isNaN(time.getTime())) return ''
  return dayOf(time)
}

/** A day in the time of the browser, as `YYYY-MM-DD`. @param {Date} time */
export const dayOf = (time) => {
  const pad = (/** @type {number} */ number) => String(number).padStart(2, '0')
  return `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`
}

/** The end of a day in the time of the browser. @param {string} day `YYYY-MM-DD` */
export const endOf = (day) => new Date(`${day}T23:59:59`).toISOString()
