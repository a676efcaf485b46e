import { paths } from '../api/paths.js'
import { html } from '../controls/html.js'
import { formatCost, formatNumber, formatTime, parseTime } from '../words/format.js'
import { formatExactBytes, formatMegabytes } from '../words/size.js'
import { t } from './words.js'

/**
 * @typedef {object} Limit
 * @property {{ type: 'account' | 'team' | 'user' | 'token', name: string | null }} subject
 * @property {keyof typeof t.limits.units} unit
 * @property {keyof typeof t.limits.windows | null} window null: it does not return
 * @property {string | null} model
 * @property {number} amount
 * @property {number} used
 * @property {number} reserved
 * @property {number} remaining
 * @property {string | null} resets_at
 */

/**
 * The limits that apply to the user. Undefined: the server does not tell them.
 * @param {import('../api/api.js').Api} api
 * @param {AbortSignal} signal
 * @returns {Promise<readonly Limit[] | undefined>}
 */
export const readLimits = async (api, signal) =>
  paths.limits === undefined ? undefined : (await api.request(paths.limits, { signal })).limits

/**
 * Limits, with what is left of each.
 * @param {{ label: string, limits: readonly Limit[] }} props
 */
export const LimitUses = ({ label, limits }) => html`
  <ul class="limit-uses" aria-label=${label}>
    ${limits.map((limit) => html`<${Use} key=${JSON.stringify([limit.subject, limit.unit, limit.window, limit.model])} limit=${limit} />`)}
  </ul>
`

/** @param {Pick<Limit, 'unit'>} limit @param {number} amount */
const format = ({ unit }, amount) =>
  unit === 'cost' ? formatCost(amount) : unit === 'storage_bytes' ? formatMegabytes(amount) : formatNumber(amount)

/** @param {{ limit: Limit }} props */
const Use = ({ limit }) => {
  const { subject, unit, window, model, amount, used, reserved, remaining, resets_at } = limit
  const resets = parseTime(resets_at)
  const share = amount > 0 ? Math.min(1, (used + reserved) / amount) : 1
  const level = share >= 0.9 ? 'bad' : share >= 0.7 ? 'warn' : 'good'
  const name = t.limits.name(t.limits.units[unit], window && t.limits.windows[window])
  return html`
    <li>
      <p class="use-title">
        <span class="name">${name}</span>
        <span class="hint">${model && html`<code>${model}</code>`}${subject.type !== 'user' && html`<span class="badge">${t.limits.subjects[subject.type]}</span>`}</span>
      </p>
      <svg class=${`meter ${level}`} viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=${t.limits.share(Math.round(share * 100))}>
        <rect class="track" width="100" height="4" />
        <rect class="bar" width=${share * 100} height="4" />
      </svg>
      <p class="hint">
        <span>${t.limits.left(format(limit, remaining), format(limit, amount))}</span>
        ${unit === 'storage_bytes' && html`<span>${t.limits.left(formatExactBytes(remaining), formatExactBytes(amount))}</span>`}
        ${resets && html`<span>${t.limits.resets} <time datetime=${resets.toISOString()}>${formatTime(resets)}</time></span>`}
      </p>
    </li>
  `
}
