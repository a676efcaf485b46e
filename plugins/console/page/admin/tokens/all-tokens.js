import { useState } from 'preact/hooks'
import { serverNow } from '../../api/clock.js'
import { Select } from '../../controls/field.js'
import { html } from '../../controls/html.js'
import { LimitSettings } from '../limits/limit-settings.js'
import { List, useList } from '../parts/list.js'
import { useQuery } from '../parts/query.js'
import { SearchField } from '../parts/search-field.js'
import { UserPicker, useUserById } from '../parts/user-picker.js'
import { w } from '../words/words.js'
import { TokenDialogs } from './token-dialogs.js'
import { TokenRows } from './token-rows.js'

const filters = /** @type {const} */ (['search', 'user', 'state', 'use'])
const dayMs = 86_400_000
/** The server knows the first characters of a token only, so no more of one gets into the address. */
const startLength = 9

/** The tokens of all users. */
export const AllTokens = () => {
  const [query, setQuery] = useQuery(filters)
  const { use, ...asked } = query
  const list = useList('/tokens', 'tokens', { ...asked, ...lastUse(use) })
  const user = useUserById(query.user)
  const [open, setOpen] = useState(/** @type {import('./token-dialogs.js').Open | undefined} */ (undefined))
  const isFiltered = filters.some((name) => query[name])
  const search = (/** @type {string} */ text) =>
    setQuery({ search: text.startsWith('sk-') ? text.slice(0, startLength) : text })
  const select = (/** @type {'state' | 'use'} */ name) => (/** @type {Event} */ event) =>
    setQuery({ [name]: /** @type {HTMLSelectElement} */ (event.currentTarget).value })
  return html`
    <div class="heading"><h1 tabindex="-1">${w.tokens.title}</h1></div>
    <p class="lead">${w.tokens.allLead}</p>
    <div class="filters">
      <${SearchField} label=${w.tokens.search} value=${query.search} onSearch=${search} />
      <${UserPicker} label=${w.tokens.user} name="filter-user" value=${user} onPick=${(/** @type {{ id: string } | undefined} */ picked, /** @type {string} */ text) => (picked || text === '') && setQuery({ user: picked?.id ?? '' })} />
      <${Select} label=${w.tokens.state} value=${query.state ?? ''} onChange=${select('state')} choices=${[['', w.tokens.anyState], ...Object.entries(w.tokens.states)]} />
      <${Select} label=${w.tokens.use} value=${use ?? ''} onChange=${select('use')} choices=${[['', w.tokens.anyUse], ...Object.entries(w.tokens.uses)]} />
    </div>
    <${LimitSettings}>
      <${List} list=${list} icon="tokens" title=${w.tokens.empty} hint=${w.tokens.emptyAll} clear=${isFiltered && (() => setQuery({ search: '', user: '', state: '', use: '' }))}
        rows=${(/** @type {readonly import('./token.js').Token[]} */ tokens) => html`<${TokenRows} withUser tokens=${tokens} onOpen=${setOpen} />`} />
      <${TokenDialogs} open=${open} onClose=${() => setOpen(undefined)} onChanged=${list.reload} />
    <//>
  `
}

/**
 * The parameters of a choice such as `unused-30`: a number of days. They are the same all day, because each page of the
 * list must have the parameters of the first one.
 * @param {string | undefined} choice
 */
const lastUse = (choice) => {
  const [kind = '', days] = choice?.split('-') ?? []
  const since = new Date(serverNow() - Number(days) * dayMs)
  if (!['used', 'unused'].includes(kind) || Number.isNaN(since.getTime())) return {}
  return { [`${kind}_since`]: since.toISOString().slice(0, 10) }
}
