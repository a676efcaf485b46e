import { html } from '../../controls/html.js'
import { formatDate, formatTime, parseTime } from '../../words/format.js'

/**
 * A time of the admin API. `fallback` where there is none.
 * @param {{ at: string | null | undefined, day?: boolean, fallback?: unknown }} props `day`: without the time of day
 */
export const Time = ({ at, day = false, fallback = '–' }) => {
  const time = parseTime(at)
  if (!time) return fallback
  return html`<time datetime=${time.toISOString()} title=${day ? formatTime(time) : undefined}>${day ? formatDate(time) : formatTime(time)}</time>`
}
