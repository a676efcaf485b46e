import { useState } from 'preact/hooks'
import { html } from '../controls/html.js'
import { maxSeries, Plot } from '../controls/plot.js'
import { formatCompact, formatCost, formatNumber, formatShortDay } from '../words/format.js'
import { grouped, seriesOf, sum } from './report.js'
import { t } from './words.js'

/** @typedef {import('./report.js').Row} Row */
/** @typedef {'tokens' | 'seconds' | 'calls' | 'cost'} Measure */

/** @type {Record<Measure, (row: import('./report.js').Sum) => number>} */
const amountOf = {
  tokens: ({ input_tokens, output_tokens }) => input_tokens + output_tokens,
  seconds: ({ video_seconds }) => video_seconds ?? 0,
  calls: ({ calls }) => calls,
  cost: ({ cost }) => cost ?? 0,
}

/**
 * The usage of text or of videos: bars by day, stacked by model, beside a table with the sums of the models.
 * @param {{ kind: 'text' | 'video', rows: readonly Row[], days: readonly string[] }} props
 */
export const UsageOfKind = ({ kind, rows, days }) => {
  const total = sum(rows)
  const measures = /** @type {readonly Measure[]} */ ([
    ...(kind === 'video' ? ['seconds'] : ['tokens']),
    ...(total.cost === null ? [] : ['cost']),
    'calls',
  ])
  const [chosen, setMeasure] = useState(measures[0])
  const measure = chosen && measures.includes(chosen) ? chosen : /** @type {Measure} */ (measures[0])
  const value = amountOf[measure]
  const series = seriesOf(rows, days, { measure: value, max: maxSeries })
  const format = measure === 'cost' ? formatCost : formatNumber
  const title = t.usage.plot(t.usage.kinds[kind], t.usage.measures[measure])
  return html`
    <section class="usage-kind">
      <div class="heading">
        <h2>${t.usage.kinds[kind]}</h2>
        <div class="segments" role="group" aria-label=${t.usage.measure(t.usage.kinds[kind])}>
          ${measures.map((one) => html`<button key=${one} type="button" aria-pressed=${one === measure} onClick=${() => setMeasure(one)}>${t.usage.measures[one]}</button>`)}
        </div>
      </div>
      <div class="plot-and-table">
        <${Plot} title=${title} labels=${days} series=${series} format=${measure === 'cost' ? formatCost : formatCompact} formatLabel=${formatShortDay} />
        <div class="scroll" role="region" aria-label=${t.usage.byModel(t.usage.kinds[kind])} tabindex="0">
          <table>
            <caption class="visually-hidden">${t.usage.byModel(t.usage.kinds[kind])}</caption>
            <thead>
              <tr>
                <th scope="col">${t.usage.columns.model}</th>
                ${measures.map((one) => html`<th key=${one} scope="col" class="figure">${t.usage.measures[one]}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${grouped(rows, ['model'])
                .toSorted((a, b) => value(b) - value(a))
                .map(
                  (row) => html`
                    <tr key=${row.model}>
                      <th scope="row">${row.model}</th>
                      ${measures.map((one) => html`<td key=${one} class="figure">${one === 'cost' ? formatCost(amountOf[one](row)) : formatNumber(amountOf[one](row))}</td>`)}
                    </tr>
                  `,
                )}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row">${t.usage.total}</th>
                ${measures.map((one) => html`<td key=${one} class="figure">${one === 'cost' ? formatCost(amountOf[one](total)) : formatNumber(amountOf[one](total))}</td>`)}
              </tr>
            </tfoot>
          </table>
        </div>
      </div>
      <details class="more">
        <summary>${t.usage.dayTable}</summary>
        <div class="scroll" role="region" aria-label=${title} tabindex="0">
          <table>
            <caption class="visually-hidden">${title}</caption>
            <thead>
              <tr>
                <th scope="col">${t.usage.columns.day}</th>
                ${series.map(({ name }) => html`<th key=${name} scope="col" class="figure">${name}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${days.map((day, at) => html`<tr key=${day}><th scope="row">${formatShortDay(day)}</th>${series.map(({ name, values }) => html`<td key=${name} class="figure">${format(values[at] ?? 0)}</td>`)}</tr>`)}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  `
}
