import { useState } from 'preact/hooks'
import { Field } from '../../controls/field.js'
import { html } from '../../controls/html.js'
import { Empty, Failure, Loading } from '../../controls/placeholder.js'
import { useLoaded } from '../../frame/hooks.js'
import { useAdminApi } from '../parts/admin-api.js'
import { Table } from '../parts/table.js'
import { w } from '../words/words.js'

/** @typedef {readonly [variable: string, value: unknown]} Setting */

/** The settings in force. */
export const SettingsScreen = () => {
  const admin = useAdminApi()
  const [filter, setFilter] = useState('')
  const loaded = useLoaded(
    async (signal) =>
      /** @type {readonly Setting[]} */ (Object.entries((await admin.read('/settings', {}, signal)).settings)),
    [],
  )
  const shown = loaded.value?.filter(([variable]) => variable.includes(filter.trim().toUpperCase()))
  return html`
    <div class="heading"><h1 tabindex="-1">${w.sections.settings}</h1></div>
    <p class="lead">${w.settings.lead}</p>
    <div class="filters">
      <${Field} label=${w.settings.filter} type="search" value=${filter} autocomplete="off" spellcheck=${false} onInput=${(/** @type {Event} */ event) => setFilter(/** @type {HTMLInputElement} */ (event.currentTarget).value)} />
    </div>
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!shown && loaded.busy && html`<${Loading} kind="rows" />`}
    ${shown && shown.length > 0 && html`<${Table} caption=${w.settings.caption} columns=${columns} rows=${shown} keyOf=${(/** @type {Setting} */ [variable]) => variable} />`}
    ${shown?.length === 0 && html`<${Empty} icon="admin" title=${w.nothingMatches} />`}
  `
}

/** @type {readonly import('../parts/table.js').Column<Setting>[]} */
const columns = [
  { name: 'variable', label: w.settings.variable, cell: ([variable]) => html`<code>${variable}</code>` },
  { name: 'value', label: w.settings.value, cell: ([, value]) => valueText(value) },
]

/** @param {unknown} value */
const valueText = (value) => {
  if (value === null || value === undefined || value === '') return html`<span class="hint">${w.settings.notSet}</span>`
  if (value === 'set' || value === 'unset') return html`<span class="badge">${w.settings[value]}</span>`
  if (typeof value === 'object') return html`<pre>${JSON.stringify(value, null, 2)}</pre>`
  return String(value)
}
