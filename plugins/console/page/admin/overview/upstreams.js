import { html } from '../../controls/html.js'
import { Empty } from '../../controls/placeholder.js'
import { formatNumber } from '../../words/format.js'
import { t } from '../../words/words.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { w } from '../words/words.js'

/**
 * @typedef {object} Upstream
 * @property {string} name
 * @property {string} kind
 * @property {string} state
 * @property {string | null} since
 * @property {{ at: string, status: number | null, message: string } | null} last_error
 * @property {number} calls
 * @property {number} errors
 * @property {readonly RateLimit[]} limits
 * @property {readonly Pool[]} slots
 * @property {AssetSlots | null} asset_slots
 */
/** @typedef {{ action: string, per_second: number, calls: number, waiting: number }} RateLimit */
/**
 * @typedef {{ pool: string, slots: number | null, running: number, waiting: number, users: readonly { user: string,
 * user_name: string | null, running: number, waiting: number }[] }} Pool
 */
/**
 * @typedef {{ slots: number | null, used: number, persons: number, pinned: number, waiting: number, last_evicted_at:
 * string | null, users: readonly { user: string, user_name: string | null, used: number, persons: number }[] }}
 * AssetSlots
 */

/**
 * The upstreams, with their limits and queues.
 * @param {{ upstreams: readonly Upstream[] }} props
 */
export const Upstreams = ({ upstreams }) => html`
  <section>
    <h2>${w.overview.upstreams}</h2>
    ${upstreams.length === 0 ? html`<${Empty} icon="alert" title=${w.overview.noUpstreams} />` : html`<ul class="rows">${upstreams.map((upstream) => html`<${Row} key=${upstream.name} upstream=${upstream} />`)}</ul>`}
    <p class="hint">${w.overview.upstreamsHint}</p>
  </section>
`

const badgeOf = (/** @type {string} */ state) =>
  state === 'reachable' ? 'active' : state === 'not called yet' ? '' : 'disabled'

/** @param {{ upstream: Upstream }} props */
const Row = ({ upstream }) => {
  const { name, kind, state, since, last_error, calls, errors, limits, slots, asset_slots } = upstream
  return html`
    <li class="stacked">
      <div class="item-text">
        <h3>${name} <span class="badge">${kind}</span> <span class=${`badge ${badgeOf(state)}`}>${w.overview.states[state] ?? state}</span></h3>
        <p class="hint">
          <span>${w.overview.calls(formatNumber(calls), formatNumber(errors))}</span>
          ${since && html`<span>${w.overview.since} <${Time} at=${since} /></span>`}
          ${last_error && html`<span>${w.overview.lastError}${t.colon}${last_error.status === null ? w.overview.noResponse : w.overview.status(last_error.status)}, <${Time} at=${last_error.at} /></span>`}
        </p>
      </div>
      ${limits.length > 0 && html`<${Table} caption=${`${w.overview.limits}${t.colon}${name}`} columns=${limitColumns} rows=${limits} keyOf=${(/** @type {RateLimit} */ { action }) => action} />`}
      ${slots.length > 0 && html`<${Table} caption=${`${w.overview.slots}${t.colon}${name}`} columns=${slotColumns} rows=${slots} keyOf=${(/** @type {Pool} */ { pool }) => pool} />`}
      ${asset_slots && html`<${Table} caption=${`${w.overview.assetSlots}${t.colon}${name}`} columns=${assetSlotColumns} rows=${[asset_slots]} keyOf=${() => name} />`}
    </li>
  `
}

const ofSlots = (/** @type {number} */ used, /** @type {number | null} */ slots, /** @type {string} */ unknown) =>
  w.overview.ofSlots(formatNumber(used), slots === null ? unknown : formatNumber(slots))

/** @type {readonly import('../parts/table.js').Column<AssetSlots>[]} */
const assetSlotColumns = [
  {
    name: 'used',
    label: w.overview.assetSlots,
    cell: ({ used, slots }) => ofSlots(used, slots, w.overview.quota),
  },
  { name: 'persons', label: w.overview.persons, figure: true, cell: ({ persons }) => formatNumber(persons) },
  { name: 'pinned', label: w.overview.pinned, figure: true, cell: ({ pinned }) => formatNumber(pinned) },
  { name: 'waiting', label: w.overview.waiting, figure: true, cell: ({ waiting }) => formatNumber(waiting) },
  {
    name: 'evicted',
    label: w.overview.evicted,
    cell: ({ last_evicted_at }) => html`<${Time} at=${last_evicted_at} fallback=${w.overview.neverEvicted} />`,
  },
  {
    name: 'users',
    label: w.overview.users,
    cell: ({ users }) =>
      users.map(({ user, user_name, used }) => `${user_name ?? user}${t.colon}${formatNumber(used)}`).join('; '),
  },
]

/** @type {readonly import('../parts/table.js').Column<RateLimit>[]} */
const limitColumns = [
  { name: 'action', label: w.overview.action, cell: ({ action }) => action },
  {
    name: 'calls',
    label: w.overview.used,
    figure: true,
    cell: ({ calls, per_second }) => w.overview.ofSecond(formatNumber(calls), formatNumber(per_second)),
  },
  { name: 'waiting', label: w.overview.waiting, figure: true, cell: ({ waiting }) => formatNumber(waiting) },
]

/** @type {readonly import('../parts/table.js').Column<Pool>[]} */
const slotColumns = [
  { name: 'pool', label: w.overview.pool, cell: ({ pool }) => pool },
  {
    name: 'running',
    label: w.overview.running,
    figure: true,
    cell: ({ running, slots }) => ofSlots(running, slots, w.overview.noMaximum),
  },
  { name: 'waiting', label: w.overview.waiting, figure: true, cell: ({ waiting }) => formatNumber(waiting) },
  {
    name: 'users',
    label: w.overview.users,
    cell: ({ users }) =>
      users
        .map(({ user, user_name, running, waiting }) =>
          w.overview.ofUser(user_name ?? user, formatNumber(running), formatNumber(waiting)),
        )
        .join('; '),
  },
]
