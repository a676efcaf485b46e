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
export const Table = ({ caption, columns, rows, keyOf, busy = false, total, totalLabel }) => html`
  <div class="scroll dense" role="region" aria-label=${caption} tabindex="0" aria-busy=${busy}>
    <table>
      <caption class="visually-hidden">${caption}</caption>
      <thead>
        <tr>
          ${columns.map(({ name, label, figure }) => html`<th key=${name} scope="col" class=${figure ? 'figure' : undefined}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<tr key=${keyOf(row)}>${columns.map((column, at) => cellOf(column, row, at))}</tr>`)}
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
