import { useState } from 'preact/hooks'
import { Field, Select } from '../../controls/field.js'
import { html } from '../../controls/html.js'
import { formatTime, parseTime } from '../../words/format.js'
import { List, useList } from '../parts/list.js'
import { linkToAdmin, useQuery } from '../parts/query.js'
import { Table } from '../parts/table.js'
import { UserPicker, useUserById } from '../parts/user-picker.js'
import { w } from '../words/words.js'
import { auditActions } from './actions.js'
import { Verification } from './verification.js'

/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {string} at
 * @property {string} action
 * @property {string | null} user
 * @property {string | null} user_name
 * @property {string | null} token
 * @property {string | null} kind
 * @property {string | null} target
 * @property {string | null} address
 * @property {number | null} status
 * @property {string | null} reason
 * @property {readonly string[] | null} fields
 * @property {number} times
 */

const names = /** @type {const} */ (['user', 'action', 'since', 'until'])

/** The audit trail. */
export const AuditTrail = () => {
  const [query, setQuery] = useQuery(names)
  const user = useUserById(query.user)
  const list = useList('/audit', 'entries', query)
  const [verifying, setVerifying] = useState(false)
  const isFiltered = names.some((name) => query[name])
  const set = (/** @type {typeof names[number]} */ name) => (/** @type {Event} */ event) =>
    setQuery({ [name]: /** @type {HTMLInputElement} */ (event.currentTarget).value })
  return html`
    <div class="heading">
      <h1 tabindex="-1">${w.sections.audit}</h1>
      <button type="button" onClick=${() => setVerifying(true)}>${w.audit.verify}</button>
    </div>
    <p class="lead">${w.audit.lead}</p>
    <div class="filters">
      <${UserPicker} label=${w.audit.user} name="filter-user" value=${user} onPick=${(/** @type {{ id: string } | undefined} */ picked, /** @type {string} */ text) => (picked || text === '') && setQuery({ user: picked?.id ?? '' })} />
      <${Select} label=${w.audit.action} value=${query.action ?? ''} onChange=${set('action')} choices=${[['', w.audit.anyAction], ...auditActions.map((action) => [action, action])]} />
      <${Field} label=${w.audit.since} type="date" value=${query.since ?? ''} max=${query.until} onChange=${set('since')} />
      <${Field} label=${w.audit.until} type="date" value=${query.until ?? ''} min=${query.since} onChange=${set('until')} />
    </div>
    <${List} list=${list} icon="check" title=${w.audit.empty} hint=${w.audit.emptyHint} clear=${isFiltered && (() => setQuery({ user: '', action: '', since: '', until: '' }))}
      rows=${(/** @type {readonly Entry[]} */ entries) => html`<${Table} caption=${w.audit.caption} columns=${columns} rows=${entries} keyOf=${(/** @type {Entry} */ { id }) => id} busy=${list.busy} />`} />
    ${verifying && html`<${Verification} onClose=${() => setVerifying(false)} />`}
  `
}

/** @type {readonly import('../parts/table.js').Column<Entry>[]} */
const columns = [
  {
    name: 'at',
    label: w.audit.columns.at,
    cell: ({ at }) => {
      const time = parseTime(at)
      return html`<time datetime=${at}>${time ? formatTime(time) : at}</time>`
    },
  },
  {
    name: 'action',
    label: w.audit.columns.action,
    cell: ({ action, times }) =>
      html`<code>${action}</code>${times > 1 && html` <span class="badge">${w.audit.times(times)}</span>`}`,
  },
  {
    name: 'who',
    label: w.audit.columns.who,
    cell: ({ user, user_name }) =>
      user ? html`<a href=${linkToAdmin(['users', user])}>${user_name ?? user}</a>` : (user_name ?? '–'),
  },
  { name: 'object', label: w.audit.columns.object, cell: (entry) => objectOf(entry) },
  { name: 'fields', label: w.audit.columns.fields, cell: ({ fields }) => fields?.join(', ') ?? '' },
  {
    name: 'address',
    label: w.audit.columns.address,
    cell: ({ address }) => (address === 'admin' ? w.audit.commandLine : (address ?? '')),
  },
  {
    name: 'note',
    label: w.audit.columns.note,
    cell: ({ status, reason }) =>
      [status === null ? '' : w.audit.status(status), reason ?? ''].filter(Boolean).join(', '),
  },
]

/** @param {Entry} entry */
const objectOf = ({ kind, target }) => {
  if (!kind) return ''
  if (!target) return kind
  return kind === 'user'
    ? html`${kind} <a href=${linkToAdmin(['users', target])}>${target}</a>`
    : html`${kind} <code>${target}</code>`
}
