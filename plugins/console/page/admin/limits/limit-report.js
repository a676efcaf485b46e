import { html } from '../../controls/html.js'
import { formatTime, parseTime } from '../../words/format.js'
import { w } from '../words/words.js'
import { formatExactAmount, limitText } from './limit.js'

/**
 * @typedef {object} LimitUse
 * @property {{ type: 'account' | 'team' | 'user' | 'token', id: string, name: string }} subject
 * @property {import('./limit.js').Unit} unit
 * @property {import('./limit.js').Window | null} window
 * @property {string | null} model
 * @property {number} amount
 * @property {number} used
 * @property {number} reserved
 * @property {number} remaining
 * @property {string | null} resets_at
 */

/**
 * The limits that apply to a user, with bars of what is used.
 * @param {{ limits: readonly LimitUse[] }} props
 */
export const LimitReport = ({ limits }) => html`
  <ul class="limit-uses" aria-label=${w.limits.caption}>
    ${limits.map((limit) => html`<${Use} key=${JSON.stringify([limit.subject, limit.unit, limit.window, limit.model])} limit=${limit} />`)}
  </ul>
`

/** @param {{ limit: LimitUse }} props */
const Use = ({ limit }) => {
  const { subject, unit, amount, used, reserved, remaining, resets_at } = limit
  const resets = parseTime(resets_at)
  const share = amount > 0 ? Math.min(1, (used + reserved) / amount) : 1
  const level = share >= 0.9 ? 'bad' : share >= 0.7 ? 'warn' : 'good'
  const text = limitText(limit)
  return html`
    <li>
      <p class="use-title"><span class="name">${text}</span> <span class="badge">${w.limits.subjects[subject.type]}${subject.type === 'team' || subject.type === 'token' ? ` ${subject.name}` : ''}</span></p>
      <svg class=${`meter ${level}`} viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=${`${text}: ${Math.round(share * 100)} %`}>
        <rect class="track" width="100" height="4" />
        <rect class="bar" width=${share * 100} height="4" />
      </svg>
      <p class="hint">
        <span>${w.limits.used} ${formatExactAmount({ unit, amount: used })}</span>
        ${reserved > 0 && html`<span>${w.limits.reserved} ${formatExactAmount({ unit, amount: reserved })}</span>`}
        <span>${w.limits.remaining} ${formatExactAmount({ unit, amount: remaining })}</span>
        ${resets && html`<span>${w.limits.resets} <time datetime=${resets.toISOString()}>${formatTime(resets)}</time></span>`}
      </p>
    </li>
  `
}
