import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { formatDuration, formatNumber, numbers } from '../../words/format.js'
import { t } from '../../words/words.js'
import { linkToAdmin } from '../parts/query.js'
import { Time } from '../parts/time.js'
import { w } from '../words/words.js'

/**
 * @typedef {object} Alert
 * @property {string} name
 * @property {'critical' | 'warning'} severity
 * @property {'pending' | 'firing'} state
 * @property {string} since
 * @property {Readonly<Record<string, string>>} labels
 * @property {number} value
 */
/** @typedef {{ alerts: readonly Alert[], not_evaluated: readonly string[] }} AlertReport */

/**
 * The alerts that the server's rules would fire.
 * @param {{ report: AlertReport }} props
 */
export const Alerts = ({ report: { alerts, not_evaluated } }) => html`
  <section>
    <h2>${w.overview.alerts}</h2>
    ${
      alerts.length === 0
        ? html`<p class="calm"><${Icon} name="check" /><span>${w.overview.noAlerts}</span></p>`
        : html`<ul class="alerts">${alerts.toSorted(worstFirst).map((alert) => html`<${Row} key=${alert.name + JSON.stringify(alert.labels)} alert=${alert} />`)}</ul>`
    }
    ${not_evaluated.length > 0 && html`<p class="hint">${w.overview.notEvaluated(t.listed(not_evaluated))}</p>`}
  </section>
`

const orderOf = (/** @type {Alert} */ { state, severity }) =>
  (state === 'firing' ? 0 : 2) + (severity === 'critical' ? 0 : 1)

const worstFirst = (/** @type {Alert} */ a, /** @type {Alert} */ b) => orderOf(a) - orderOf(b)

/** @param {{ alert: Alert }} props */
const Row = ({ alert: { name, severity, state, since, labels, value } }) => html`
  <li class=${state === 'firing' ? severity : 'pending'}>
    <${Icon} name="alert" />
    <div class="item-text">
      <p class="name">${name} <span class="badge">${w.overview.alertStates[state]}</span> <span class="badge">${w.overview.severities[severity]}</span></p>
      ${w.overview.advice[name] && html`<p>${w.overview.advice[name]}</p>`}
      <p class="hint">
        ${Object.entries(labels).map(([label, text]) => html`<span key=${label}>${w.overview.labels[label] ?? label}${t.colon}<strong>${text || '–'}</strong></span>`)}
        <span>${shown(name, value)}</span>
        <span>${w.overview.since} <${Time} at=${since} /></span>
        ${name === 'SluiceVideoTaskRunsForEver' && html`<a href=${linkToAdmin(['decisions', 'videos'])}>${w.overview.toDecisions}</a>`}
      </p>
    </div>
  </li>
`

const percent = numbers({ style: 'percent', maximumSignificantDigits: 3 })
const formatPercent = (/** @type {number} */ value) => percent().format(value)

/** What the value of a rule is, where it is not a number of things. @type {Record<string, (value: number) => string>} */
const forms = {
  SluiceErrors: formatPercent,
  SluiceUpstreamFailing: formatPercent,
  SluiceUpstreamSlow: formatPercent,
  SluiceUsageUnreported: formatPercent,
  SluiceWebhooksFailing: formatPercent,
  SluiceLimitNearlyUsed: formatPercent,
  SluiceBusy: (value) => w.overview.perMinute(few(60 * value)),
  SluiceUpstreamRejectsAccount: (value) => w.overview.perMinute(few(60 * value)),
  SluiceUpstreamRateLimited: (value) => w.overview.perMinute(few(60 * value)),
  SluiceVideoQueueOld: formatDuration,
}

const few = (/** @type {number} */ value) => formatNumber(Number(value.toPrecision(3)))

/**
 * @param {string} name
 * @param {number} value
 */
const shown = (name, value) => (forms[name] ?? few)(value)
