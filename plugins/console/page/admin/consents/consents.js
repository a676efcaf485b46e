import { Select } from '../../controls/field.js'
import { html } from '../../controls/html.js'
import { t } from '../../words/words.js'
import { FieldFault } from '../parts/faults.js'
import { FaultForm, Input } from '../parts/form.js'
import { List, useList } from '../parts/list.js'
import { linkToAdmin, navigateTo, useQuery } from '../parts/query.js'
import { Time } from '../parts/time.js'
import { w } from '../words/words.js'
import { Keys } from './keys.js'

/**
 * Who has asked for something, and when.
 * @typedef {{ at: string, by: 'person' | 'owner' | 'admin', user: string | null, link_from: string | null }} Act
 */
/**
 * @typedef {object} Consent
 * @property {string} group id
 * @property {string} owner id
 * @property {string | null} owner_name
 * @property {keyof typeof w.consents.states} status
 * @property {{ verification: string, user: string, at: string } | null} invitation
 * @property {string | null} verified_at
 * @property {string | null} used_at
 * @property {Act | null} withdrawal
 * @property {(Act & { group_at: string | null, assets: number, results: number, uses: number }) | null} deletion
 */

const names = /** @type {const} */ (['state'])

/** The consents of persons, of all users. */
export const Consents = () => {
  const [query, setQuery] = useQuery(names)
  const list = useList('/consents', 'consents', query)
  const find = async (/** @type {Record<string, string>} */ { group = '' }) => {
    if (group === '') throw new FieldFault('group', w.faults.required)
    navigateTo(['consents', group])
  }
  const show = (/** @type {Event} */ event) =>
    setQuery({ state: /** @type {HTMLSelectElement} */ (event.currentTarget).value })
  return html`
    <div class="heading"><h1 tabindex="-1">${w.sections.consents}</h1></div>
    <p class="lead">${w.consents.lead}</p>
    <div class="find-consent">
      <${FaultForm} submitLabel=${w.consents.open} action=${find}>
        <${Input} label=${w.consents.find} hint=${w.consents.findHint} name="group" maxlength="256" autocomplete="off" spellcheck=${false} />
      <//>
    </div>
    <div class="filters">
      <${Select} label=${w.consents.state} value=${query.state ?? ''} choices=${[['', w.consents.all], ['withdrawn', w.consents.onlyWithdrawn]]} onChange=${show} />
    </div>
    <${List} list=${list} icon="face" title=${w.consents.empty} hint=${w.consents.emptyHint} clear=${query.state ? () => setQuery({ state: '' }) : false}
      rows=${(/** @type {readonly Consent[]} */ consents) => html`<ul class="rows">${consents.map((consent) => html`<${Row} key=${consent.group} consent=${consent} />`)}</ul>`} />
    <${Keys} />
  `
}

/** Which badge a status has. @type {Record<Consent['status'], string>} */
const badges = { active: 'active', withdrawn: 'disabled', deleting: 'Processing', deleted: '' }

/** @param {{ status: Consent['status'] }} props */
export const ConsentBadge = ({ status }) =>
  html`<span class=${`badge ${badges[status]}`}>${w.consents.states[status]}</span>`

/** @param {{ consent: Consent }} props */
export const OwnerLink = ({ consent: { owner, owner_name } }) =>
  html`<a href=${linkToAdmin(['users', owner])}>${owner_name ?? owner}</a>`

/** @param {{ consent: Consent }} props */
const Row = ({ consent }) => html`
  <li>
    <div class="item-text">
      <p class="name"><a href=${linkToAdmin(['consents', consent.group])}><code>${consent.group}</code></a> <${ConsentBadge} status=${consent.status} /></p>
      <p class="hint">
        <span>${w.consents.owner}${t.colon}<${OwnerLink} consent=${consent} /></span>
        <span>${w.consents.verified}${t.colon}<${Time} at=${consent.verified_at} fallback=${w.consents.unknownTime} /></span>
        <span>${w.consents.used}${t.colon}<${Time} at=${consent.used_at} fallback=${w.consents.never} /></span>
      </p>
    </div>
  </li>
`
