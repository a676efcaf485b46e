import { useState } from 'preact/hooks'
import { Select } from '../../controls/field.js'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { List, useList } from '../parts/list.js'
import { linkToAdmin, useQuery } from '../parts/query.js'
import { SearchField } from '../parts/search-field.js'
import { Table } from '../parts/table.js'
import { useTeamChoices } from '../parts/teams-choice.js'
import { Time } from '../parts/time.js'
import { w } from '../words/words.js'
import { ImportUsers } from './import-users.js'
import { NewUser } from './new-user.js'

/**
 * @typedef {object} User
 * @property {string} id
 * @property {string} name
 * @property {'user' | 'admin'} role
 * @property {string | null} team
 * @property {string | null} team_name
 * @property {boolean} service
 * @property {string | null} external_id
 * @property {string} created_at
 * @property {string | null} disabled_at
 * @property {string | null} last_active_at
 * @property {'password' | 'oidc' | 'none'} login
 * @property {readonly import('../limits/limit.js').Limit[] | null} limits
 */

const filters = /** @type {const} */ (['search', 'role', 'team', 'state'])

/** The users of the server. */
export const Users = () => {
  const [query, setQuery] = useQuery(filters)
  const list = useList('/users', 'users', query)
  const teams = useTeamChoices(w.users.anyTeam, query.team ? { id: query.team, name: null } : undefined)
  const [creating, setCreating] = useState(false)
  const [importing, setImporting] = useState(false)
  const isFiltered = filters.some((name) => query[name])
  const select = (/** @type {typeof filters[number]} */ name) => (/** @type {Event} */ event) =>
    setQuery({ [name]: /** @type {HTMLSelectElement} */ (event.currentTarget).value })
  return html`
    <div class="heading">
      <h1 tabindex="-1">${w.sections.users}</h1>
      <div class="actions">
        <button type="button" onClick=${() => setImporting(true)}><${Icon} name="upload" />${w.users.import}</button>
        <button type="button" class="primary" onClick=${() => setCreating(true)}><${Icon} name="add" />${w.users.create}</button>
      </div>
    </div>
    <div class="filters">
      <${SearchField} label=${w.users.search} value=${query.search} onSearch=${(/** @type {string} */ search) => setQuery({ search })} />
      <${Select} label=${w.users.role} value=${query.role ?? ''} onChange=${select('role')} choices=${[['', w.users.anyRole], ['user', w.users.roles.user], ['admin', w.users.roles.admin]]} />
      <${Select} label=${w.users.team} value=${query.team ?? ''} onChange=${select('team')} choices=${teams} />
      <${Select} label=${w.users.state} value=${query.state ?? ''} onChange=${select('state')} choices=${[['', w.users.anyState], ['enabled', w.users.enabled], ['disabled', w.users.disabled]]} />
    </div>
    <${List} list=${list} icon="person" title=${w.users.empty} hint=${w.users.emptyHint} clear=${isFiltered && (() => setQuery({ search: '', role: '', team: '', state: '' }))}
      rows=${(/** @type {readonly User[]} */ users) => html`<${Table} caption=${w.users.caption} columns=${columns} rows=${users} keyOf=${(/** @type {User} */ { id }) => id} busy=${list.busy} />`} />
    ${importing && html`<${ImportUsers} onClose=${() => setImporting(false)} onImported=${list.reload} />`}
    ${creating && html`<${NewUser} onClose=${() => setCreating(false)} onCreated=${list.reload} />`}
  `
}

/** @type {readonly import('../parts/table.js').Column<User>[]} */
const columns = [
  {
    name: 'name',
    label: w.users.name,
    cell: ({ id, name }) => html`<a href=${linkToAdmin(['users', id])}>${name}</a>`,
  },
  { name: 'role', label: w.users.role, cell: (user) => html`<${UserBadges} user=${user} />` },
  { name: 'team', label: w.users.team, cell: ({ team_name }) => team_name ?? '–' },
  { name: 'login', label: w.users.login, cell: ({ login }) => w.users.logins[login] },
  {
    name: 'active',
    label: w.users.lastActive,
    cell: ({ last_active_at }) => html`<${Time} at=${last_active_at} fallback=${w.users.never} />`,
  },
  { name: 'created', label: w.users.created, cell: ({ created_at }) => html`<${Time} day at=${created_at} />` },
]

/**
 * What a user is, in badges.
 * @param {{ user: User }} props
 */
export const UserBadges = ({ user: { role, service, disabled_at } }) => html`
  <span class="badges">
    <span class=${`badge${role === 'admin' ? ' Processing' : ''}`}>${w.users.roles[role]}</span>
    ${service && html`<span class="badge">${w.users.service}</span>`}
    ${disabled_at && html`<span class="badge disabled">${w.users.disabled}</span>`}
  </span>
`
