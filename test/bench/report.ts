/** The report of one case, with a row for each target. */
export interface Section {
  readonly name: string
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  /** Notes below the table. */
  readonly notes?: readonly string[]
}

export interface Row {
  readonly target: string
  /** One for each column. */
  readonly cells: readonly string[]
  /** The figures of the cells, for the JSON report. */
  readonly figures: object
}

/** Median and range of the rounds. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export const spread = (values: readonly number[]): Spread => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const median = ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
  return { median, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 }
}

export const between = ({ min, max }: Spread, digits = 0): string => `${min.toFixed(digits)}-${max.toFixed(digits)}`

export const more = (value: number | undefined): string =>
  value === undefined ? '' : `${value < 0 ? '' : '+'}${value.toFixed(2)}`

/** Whether a goal is met. Undefined: there is no goal or no figure. */
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
