/** What a column may hold. Times are milliseconds since 1970. */
export type Value = string | number | null

/** A row by column name. A null is an absent field. */
export type Row = Readonly<Record<string, string | number>>

/** A text with holes, and what belongs into them: values cannot be confused with text. */
export interface Statement {
  readonly strings: TemplateStringsArray
  readonly values: readonly Value[]
}

/** One statement, as a sentence: `` sql`select id from users where name = ${name}` ``. Throws TypeError for what the databases would not keep as it is. */
export const sql = (strings: TemplateStringsArray, ...values: readonly (Value | undefined)[]): Statement => ({
  strings,
  values: values.map(storable),
})

/** A value as both databases keep it. Throws TypeError for one that they would not. */
export const storable = (value: Value | undefined): Value => {
  // PostgreSQL refuses NUL, and stores every lone surrogate as U+FFFD: two names would become one.
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw new TypeError('text for the database must not contain NUL or a lone surrogate')
  }
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new TypeError('a number for the database must be an integer')
  }
  return value ?? null
}

/** Statements of which a later one may depend on the rows of an earlier one. */
export type Steps = Generator<Statement, void, readonly Row[]>

/** PostgreSQL or SQLite. Everything rejects with StoreError, and within its deadline. */
export interface Database {
  /** @param deadlineMs default the database's own */
  query<Result = Row>(statement: Statement, deadlineMs?: number): Promise<Result[]>
  /** All of them or none. The rows of each. */
  batch(statements: readonly Statement[]): Promise<Row[][]>
  /** The same for steps, while nobody else, in any process, is in here. May take half a minute. */
  exclusively(steps: () => Steps): Promise<void>
  /** Never rejects, and takes at most 3 seconds. */
  close(): Promise<void>
}

/** Texts of statements with `mark` and a number in each hole; made once for each place in the sources. */
export const numbered = (mark: '$' | '?') => {
  const texts = new WeakMap<TemplateStringsArray, string>()
  return ({ strings }: Statement): string => {
    let text = texts.get(strings)
    if (text === undefined) {
      text = strings.reduce((before, after, hole) => `${before}${mark}${hole}${after}`)
      texts.set(strings, text)
    }
    return text
  }
}

/** A row as a driver gives it, without its nulls. In a loop: a tenth of what lists of its fields cost. */
export const toRow = (row: Readonly<Record<string, unknown>>): Row => {
  const kept: Record<string, string | number> = {}
  for (const column in row) {
    const value = row[column]
    if (value !== null) kept[column] = value as string | number
  }
  return kept
}
