import { useState } from 'preact/hooks'
import { html } from '../controls/html.js'
import { formatCost, formatDay, formatNumber } from '../words/format.js'
import { grouped, keyOf, sum } from './report.js'
import { t } from './words.js'

/** @typedef {import('./report.js').Row} Row */
/** @typedef {import('./report.js').Sum} Sum */
/** @typedef {import('./report.js').Dimension} Dimension */

/** @type {readonly { name: keyof typeof t.usage.views, dimensions: readonly Dimension[] }[]} */
const views = [
  { name: 'all', dimensions: ['day', 'token', 'model'] },
  { name: 'day', dimensions: ['day'] },
  { name: 'token', dimensions: ['token'] },
  { name: 'model', dimensions: ['model'] },
]

/** @typedef {'calls' | 'input_tokens' | 'output_tokens' | 'video_seconds' | 'cost'} Figure */

/**
 * The figures to show. Seconds only where some model made videos, costs only where some model has a price.
 * @param {Sum} total
 * @returns {readonly Figure[]}
 */
export const figuresOf = ({ video_seconds, cost }) => [
  'calls',
  'input_tokens',
  'output_tokens',
  ...(video_seconds === null ? [] : /** @type {const} */ (['video_seconds'])),
  ...(cost === null ? [] : /** @type {const} */ (['cost'])),
]

/**
 * All sums in a table, by the dimensions that the user chooses.
 * @param {{ rows: readonly Row[] }} props
 */
export const Breakdown = ({ rows }) => {
  const [view, setView] = useState(/** @type {keyof typeof t.usage.views} */ ('day'))
  const dimensions = views.find(({ name }) => name === view)?.dimensions ?? []
  const total = sum(rows)
  return html`
    <section>
      <h2>${t.usage.details}</h2>
      <div class="tabs" role="group" aria-label=${t.usage.group}>
        ${views.map(({ name }) => html`<button key=${name} type="button" aria-pressed=${name === view} onClick=${() => setView(name)}>${t.usage.views[name]}</button>`)}
      </div>
      <${Table} rows=${grouped(rows, dimensions)} dimensions=${dimensions} total=${total} />
      ${total.unreported > 0 && html`<p class="hint">${t.usage.unreported(formatNumber(total.unreported))}</p>`}
    </section>
  `
}

/** @param {{ rows: readonly Row[], dimensions: readonly Dimension[], total: Sum }} props */
const Table = ({ rows, dimensions, total }) => html`
  <div class="scroll" role="region" aria-label=${t.usage.caption} tabindex="0">
    <table>
      <caption class="visually-hidden">${t.usage.caption}</caption>
      <thead>
        <tr>
          ${dimensions.map((dimension) => html`<th key=${dimension} scope="col">${t.usage.columns[dimension]}</th>`)}
          ${figuresOf(total).map((name) => html`<th key=${name} scope="col" class="figure">${t.usage.columns[name]}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`
            <tr key=${keyOf(row, dimensions)}>
              ${dimensions.map((dimension, at) => (at === 0 ? html`<th key=${dimension} scope="row">${cell(row, dimension)}</th>` : html`<td key=${dimension}>${cell(row, dimension)}</td>`))}
              ${numbers(row, total)}
            </tr>
          `,
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colspan=${dimensions.length}>${t.usage.total}</th>
          ${numbers(total, total)}
        </tr>
      </tfoot>
    </table>
  </div>
`

/**
 * @param {Sum} row
 * @param {Figure} name
 */
export const formatFigure = (row, name) => (name === 'cost' ? formatCost(row.cost ?? 0) : formatNumber(row[name] ?? 0))

/**
 * @param {Sum} row
 * @param {Sum} total
 */
const numbers = (row, total) => html`
  <td class="figure">${formatNumber(row.calls)}</td>
  <td class="figure">${formatNumber(row.input_tokens)}${row.cached_tokens > 0 && html`<small>${t.usage.cached(formatNumber(row.cached_tokens))}</small>`}</td>
  <td class="figure">${formatNumber(row.output_tokens)}${row.reasoning_tokens > 0 && html`<small>${t.usage.reasoning(formatNumber(row.reasoning_tokens))}</small>`}</td>
  ${total.video_seconds !== null && html`<td class="figure">${row.video_seconds !== null && formatNumber(row.video_seconds)}</td>`}
  ${total.cost !== null && html`<td class="figure">${row.cost !== null && formatCost(row.cost)}</td>`}
`

/**
 * @param {Row} row
 * @param {Dimension} dimension
 */
const cell = ({ day, token, model }, dimension) => {
  if (dimension === 'day') return html`<time datetime=${day}>${formatDay(day)}</time>`
  if (dimension === 'model') return model
  return token ? token.label || html`<code>${token.start ?? token.id}…</code>` : t.usage.noToken
}
