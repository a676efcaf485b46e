import { useState } from 'preact/hooks'
import { serverNow } from '../api/clock.js'
import { html } from '../controls/html.js'
import { t } from './words.js'

const dayMs = 86_400_000
/** @type {readonly number[]} */
const presets = [7, 30, 90]

/** A range of days in UTC, both inclusive, as `YYYY-MM-DD`. @typedef {{ since: string, until: string }} Range */

/** @param {number} time milliseconds since 1970 */
const dayOf = (time) => new Date(time).toISOString().slice(0, 10)

/**
 * The last days until today.
 * @param {number} days
 * @returns {Range}
 */
export const lastDays = (days) => ({ since: dayOf(serverNow() - (days - 1) * dayMs), until: dayOf(serverNow()) })

/** The days of a range, at most a year. @param {Range} range @returns {readonly string[]} */
export const daysOf = ({ since, until }) => {
  const first = Date.parse(since)
  const count = Math.min(366, Math.max(1, Math.round((Date.parse(until) - first) / dayMs) + 1))
  return Array.from({ length: count }, (_, at) => dayOf(first + at * dayMs))
}

/**
 * Chooses a range: the last days, or two days.
 * @param {{ range: Range, onChange: (range: Range) => void }} props
 */
export const RangeChoice = ({ range, onChange }) => {
  const [preset, setPreset] = useState(/** @type {number | undefined} */ (30))
  const choose = (/** @type {number} */ days) => {
    setPreset(days)
    onChange(lastDays(days))
  }
  const edit = (/** @type {Event} */ event) => {
    const { name, value } = /** @type {HTMLInputElement} */ (event.currentTarget)
    const changed = { ...range, [name]: value }
    if (value === '' || changed.since > changed.until) return
    setPreset(undefined)
    onChange(changed)
  }
  return html`
    <div class="range">
      <div class="segments" role="group" aria-label=${t.usage.range}>
        ${presets.map((days) => html`<button key=${days} type="button" aria-pressed=${days === preset} onClick=${() => choose(days)}>${t.usage.lastDays(days)}</button>`)}
      </div>
      <label>${t.usage.from} <input type="date" name="since" value=${range.since} max=${range.until} onChange=${edit} /></label>
      <label>${t.usage.to} <input type="date" name="until" value=${range.until} min=${range.since} max=${dayOf(serverNow())} onChange=${edit} /></label>
    </div>
  `
}
