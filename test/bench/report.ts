/** A part of the report: one case, with a row for each target. */
export interface Section {
  readonly name: string
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  /** Sentences below the table. */
  readonly notes?: readonly string[]
}

export interface Row {
  readonly target: string
  /** One for each column. */
  readonly cells: readonly string[]
  /** The figures behind the cells, for programs. */
  readonly figures: object
}

/** What the rounds came to. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

export const spread = (values: readonly number[]): Spread => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const median = ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
  return { median, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 }
}

export const between = ({ least, most }: Spread, digits = 0): string =>
  `${least.toFixed(digits)}-${most.toFixed(digits)}`

export const more = (value: number | undefined): string =>
  value === undefined ? '' : `${value < 0 ? '' : '+'}${value.toFixed(2)}`

/** Whether a goal was met; undefined where there is none, or nothing to judge it by. */
export const verdict = (met: boolean | undefined): string => (met === undefined ? '' : met ? 'yes' : 'no')

/** The section as a table of plain text. */
export const toText = ({ name, title, columns, rows, notes = [] }: Section): string => {
  const table = [['', ...columns], ...rows.map(({ target, cells }) => [target, ...cells])]
  const widths = table[0]?.map((_, nth) => Math.max(...table.map((cells) => cells[nth]?.length ?? 0))) ?? []
  const lines = table.map((cells) =>
    cells
      .map((cell, nth) => (nth === 0 ? cell.padEnd(widths[nth] ?? 0) : cell.padStart(widths[nth] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  return [`${title} (${name})`, ...lines, ...notes].join('\n')
}
