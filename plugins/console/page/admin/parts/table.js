import { useEffect, useState } from 'preact/hooks'
import { html } from '../../controls/html.js'

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} name
 * @property {string} label
 * @property {boolean} [figure] aligned to the right, with digits of the same width
 * @property {(row: Row) => unknown} cell
 */

/**
 * A table that scrolls inside its own box. The first column is the header of its row, and stays in view.
 * @template Row
 * @param {{ caption: string, columns: readonly Column<Row>[], rows: readonly Row[], keyOf: (row: Row) => string, busy?:
 * boolean, total?: Row, totalLabel?: string }} props `total`: a last row with sums
 */
export const Table = ({ caption, columns, rows, keyOf, busy = false, total, totalLabel }) => {
  const shown = rows.slice(0, useGrowingCount(rows.length))
  return html`
  <div class="scroll dense" role="region" aria-label=${caption} tabindex="0" aria-busy=${busy}>
    <table>
      <caption class="visually-hidden">${caption}</caption>
      <thead>
        <tr>
          ${columns.map(({ name, label, figure }) => html`<th key=${name} scope="col" class=${figure ? 'figure' : undefined}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${shown.map((row) => html`<tr key=${keyOf(row)}>${columns.map((column, at) => cellOf(column, row, at))}</tr>`)}
      </tbody>
      ${
        total &&
        html`
          <tfoot>
            <tr>
              ${columns.map((column, at) => (at === 0 ? html`<th key=${column.name} scope="row">${totalLabel}</th>` : html`<td key=${column.name} class=${column.figure ? 'figure' : undefined}>${column.figure && column.cell(total)}</td>`))}
            </tr>
          </tfoot>
        `
      }
    </table>
  </div>
`
}

/** Rows that are rendered in one task: those in view at once. On a slow phone, more would keep the user waiting. */
const rowsAtOnce = 20

/**
 * How many rows to render: some for the first paint, and the rest in tasks after it, of which none keeps the user
 * waiting.
 * @param {number} count
 */
const useGrowingCount = (count) => {
  const [rendered, setRendered] = useState(rowsAtOnce)
  useEffect(() => {
    if (rendered >= count) return undefined
    const timer = setTimeout(() => setRendered(rendered + rowsAtOnce))
    return () => clearTimeout(timer)
  }, [rendered, count])
  return rendered
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {Row} row
 * @param {number} at
 */
const cellOf = ({ name, figure, cell }, row, at) =>
  at === 0
    ? html`<th key=${name} scope="row">${cell(row)}</th>`
    : html`<td key=${name} class=${figure ? 'figure' : undefined}>${cell(row)}</td>`
