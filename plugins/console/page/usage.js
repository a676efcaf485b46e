import { useState } from 'preact/hooks'
import { useApi, useLoaded } from './asking.js'
import { showDay, showNumber } from './format.js'
import { html } from './html.js'
import { Empty, Failure, Loading } from './placeholder.js'
import { t } from './strings.js'

/**
 * @typedef {object} Row
 * @property {string} day `YYYY-MM-DD`, UTC
 * @property {{ id: string, label: string | null, start: string | null } | null} token
 * @property {string} model
 * @property {number} calls
 * @property {number} unreported
 * @property {number} input_tokens
 * @property {number} cached_tokens
 * @property {number} output_tokens
 * @property {number} reasoning_tokens
 */
/** @typedef {'day' | 'token' | 'model'} Part */
/** @typedef {Omit<Row, 'day' | 'token' | 'model'>} Sum */

/** @type {readonly { name: keyof typeof t.usage.by, parts: readonly Part[] }[]} */
const views = [
  { name: 'all', parts: ['day', 'token', 'model'] },
  { name: 'day', parts: ['day'] },
  { name: 'token', parts: ['token'] },
  { name: 'model', parts: ['model'] },
]

/** @type {readonly (keyof Sum)[]} */
const figures = ['calls', 'input_tokens', 'output_tokens']

export const Usage = () => {
  const api = useApi()
  const loaded = useLoaded(async (signal) => {
    /** @type {readonly Row[]} */
    const usage = (await api.ask('/api/usage', { signal })).usage
    return usage
  }, [])
  const [view, setView] = useState(/** @type {keyof typeof t.usage.by} */ ('all'))
  const parts = views.find(({ name }) => name === view)?.parts ?? []
  const rows = loaded.value ?? []
  const total = sum(rows)

  return html`
    <div class="heading">
      <h1 tabindex="-1">${t.usage.title}</h1>
      <button type="button" aria-disabled=${loaded.busy} onClick=${() => loaded.busy || loaded.reload()}>${t.refresh}</button>
    </div>
    <p class="lead">${t.usage.lead}</p>
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!loaded.value && loaded.busy && html`<${Loading} kind="rows" />`}
    ${
      loaded.value &&
      (rows.length === 0
        ? html`<${Empty} icon="usage" title=${t.usage.none}><p>${t.usage.noneNext}</p><//>`
        : html`
            <dl class="figures">
              ${figures.map((name) => html`<div key=${name}><dt>${t.usage.columns[name]}</dt><dd>${showNumber(total[name])}</dd></div>`)}
            </dl>
            <div class="tabs" role="group" aria-label=${t.usage.group}>
              ${views.map(({ name }) => html`<button key=${name} type="button" aria-pressed=${name === view} onClick=${() => setView(name)}>${t.usage.by[name]}</button>`)}
            </div>
            <${Table} rows=${grouped(rows, parts)} parts=${parts} total=${total} />
            ${total.unreported > 0 && html`<p class="hint">${t.usage.unreported(showNumber(total.unreported))}</p>`}
          `)
    }
  `
}

/** @param {{ rows: readonly Row[], parts: readonly Part[], total: Sum }} props */
const Table = ({ rows, parts, total }) => html`
  <div class="scroll" role="region" aria-label=${t.usage.caption} tabindex="0">
    <table>
      <caption class="unseen">${t.usage.caption}</caption>
      <thead>
        <tr>
          ${parts.map((part) => html`<th key=${part} scope="col">${t.usage.columns[part]}</th>`)}
          ${figures.map((name) => html`<th key=${name} scope="col" class="figure">${t.usage.columns[name]}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`
            <tr key=${keyOf(row, parts)}>
              ${parts.map((part, at) => (at === 0 ? html`<th key=${part} scope="row">${cell(row, part)}</th>` : html`<td key=${part}>${cell(row, part)}</td>`))}
              ${numbers(row)}
            </tr>
          `,
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colspan=${parts.length}>${t.usage.total}</th>
          ${numbers(total)}
        </tr>
      </tfoot>
    </table>
  </div>
`

/** @param {Sum} row */
const numbers = (row) => html`
  <td class="figure">${showNumber(row.calls)}</td>
  <td class="figure">${showNumber(row.input_tokens)}${row.cached_tokens > 0 && html`<small>${t.usage.cached(showNumber(row.cached_tokens))}</small>`}</td>
  <td class="figure">${showNumber(row.output_tokens)}${row.reasoning_tokens > 0 && html`<small>${t.usage.reasoning(showNumber(row.reasoning_tokens))}</small>`}</td>
`

/**
 * @param {Row} row
 * @param {Part} part
 */
const cell = ({ day, token, model }, part) => {
  if (part === 'day') return html`<time datetime=${day}>${showDay(day)}</time>`
  if (part === 'model') return model
  return token ? token.label || html`<code>${token.start ?? token.id}…</code>` : t.usage.noToken
}

/**
 * @param {Row} row
 * @param {readonly Part[]} parts
 */
const keyOf = ({ day, token, model }, parts) => {
  const values = { day, model, token: token?.id ?? '' }
  return JSON.stringify(parts.map((part) => values[part]))
}

/**
 * Rows that agree in some parts, added up; the latest day first, otherwise the most spent.
 * @param {readonly Row[]} rows
 * @param {readonly Part[]} parts
 * @returns {readonly Row[]}
 */
export const grouped = (rows, parts) =>
  [...Map.groupBy(rows, (row) => keyOf(row, parts)).values()]
    .map((alike) => ({ .../** @type {Row} */ (alike[0]), ...sum(alike) }))
    .sort((a, b) => {
      const latest = parts.includes('day') ? b.day.localeCompare(a.day) : 0
      return latest || b.input_tokens + b.output_tokens - (a.input_tokens + a.output_tokens)
    })

/**
 * @param {readonly Sum[]} rows
 * @returns {Sum}
 */
export const sum = (rows) => {
  const total = { calls: 0, unreported: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 }
  for (const row of rows) {
    for (const name of /** @type {(keyof Sum)[]} */ (Object.keys(total))) total[name] += row[name]
  }
  return total
}
