import { serverNow } from '../api/clock.js'
import { html } from '../controls/html.js'
import { formatDuration, formatNumber, parseTime } from '../words/format.js'
import { t } from './words.js'

/** @typedef {import('./batch.js').Batch} Batch */

/** The number of items that have an outcome. @param {Batch} batch */
export const doneOf = ({ TotalCount, Counts }) => TotalCount - Counts.Waiting - Counts.Sending

/** @param {Batch} batch @returns {keyof typeof t.batches.states} */
export const stateOf = ({ State, CancelTime }) => (State === 'Ended' && CancelTime !== undefined ? 'Cancelled' : State)

/** From so few items nothing is concluded about the others. */
const minDone = 3

/** Seconds until the end, at the pace so far. Undefined: unknown. @param {Batch} batch */
const secondsLeft = (batch) => {
  const [done, began] = [doneOf(batch), parseTime(batch.CreateTime)]
  if (!began || done < minDone || batch.State === 'Ended') return undefined
  const seconds = (serverNow() - began.getTime()) / 1000
  return (seconds / done) * (batch.TotalCount - done)
}

/** How far a batch is. @param {{ batch: Batch }} props */
export const Progress = ({ batch }) => {
  const [done, left] = [doneOf(batch), secondsLeft(batch)]
  const text = t.batches.progress(formatNumber(done), formatNumber(batch.TotalCount))
  return html`
    <div class="batch-progress">
      <progress max=${batch.TotalCount} value=${done} aria-label=${text}></progress>
      <p class="hint" role="status">${text}${left !== undefined && html` · ${t.batches.left(formatDuration(left))}`}</p>
    </div>
  `
}
