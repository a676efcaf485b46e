import { UnstorableValueError } from './error.ts'

/** What a column may hold. Times are milliseconds since 1970. */
export type Value = string | number | null

/** A parameterized SQL statement: the text around the parameters, and their values. */
export interface Statement {
  readonly strings: TemplateStringsArray
  readonly values: readonly Value[]
  /** The kind of database that executes it. Default: both. */
  readonly only?: 'postgres' | 'sqlite'
}

/** A statement of a migration for which the two databases have no common form. The other one does not execute it. */
export const onlyOn = (only: 'postgres' | 'sqlite', statement: Statement): Statement => ({ ...statement, only })

/** A constant part of statements, without parameters. */
export class Fragment {
  constructor(readonly text: string) {}
}

/**
 * Template tag for a part that several statements share: `` fragment`select id, name from users` ``. It may contain
 * other fragments.
 */
export const fragment = (strings: TemplateStringsArray, ...parts: readonly Fragment[]): Fragment =>
  new Fragment(strings.map((text, at) => text + (parts[at]?.text ?? '')).join(''))

/**
 * Template tag for a statement: `` sql`select id from users where name = ${name}` ``. Each `${…}` becomes a parameter,
 * and a fragment part of the text. Throws TypeError for a value that a database would not store unchanged.
 */
export const sql = (strings: TemplateStringsArray, ...parts: readonly (Value | Fragment | undefined)[]): Statement =>
  parts.some(isFragment)
    ? { strings: textsAround(strings, parts)[0] ?? strings, values: parts.filter(isValue).map(toColumnValue) }
    : { strings, values: (parts as readonly (Value | undefined)[]).map(toColumnValue) }

type Clauses = Statement | readonly Statement[]
type Part = Value | Fragment | Clauses | undefined

const isFragment = (part: Part): part is Fragment => part instanceof Fragment

const isValue = (part: Part): part is Value | undefined => typeof part !== 'object' || part === null

const isClause = (part: Part): part is Clauses => !isValue(part) && !isFragment(part)

/**
 * Template tag for a part of a statement, with parameters: `` clause`where name = ${name}` ``; and for a statement with
 * such parts, or lists of them, in it: `` clause`select id from users ${part}` ``. The same templates give the same
 * text, which a connection prepares once: a program has few combinations.
 */
export const clause = (strings: TemplateStringsArray, ...parts: readonly Part[]): Statement => {
  if (!parts.some(isClause)) return sql(strings, ...(parts as readonly (Value | Fragment | undefined)[]))
  const texts = textsAround(strings, parts)
  const clauses: Statement[] = []
  let from = 0
  for (const text of texts) {
    const next = parts.findIndex((part, index) => index >= from && isClause(part))
    const end = next === -1 ? parts.length : next
    clauses.push({ strings: text, values: parts.slice(from, end).filter(isValue).map(toColumnValue) })
    clauses.push(
      ...parts
        .slice(end, end + 1)
        .filter(isClause)
        .flat(),
    )
    from = end + 1
  }
  return joined(clauses)
}

/** By template. A template has the same fragments, and clauses in the same places, each time. */
const knownTexts = new WeakMap<TemplateStringsArray, readonly TemplateStringsArray[]>()

/** The texts of a template before, between and behind its clauses, with its fragments in them. */
const textsAround = (strings: TemplateStringsArray, parts: readonly Part[]): readonly TemplateStringsArray[] => {
  const known = knownTexts.get(strings)
  if (known) return known
  const texts = [['']]
  for (const [index, start] of strings.entries()) {
    const text = texts.at(-1) ?? []
    text[text.length - 1] += start
    const part = parts[index]
    if (isFragment(part)) text[text.length - 1] += part.text
    else if (isClause(part)) texts.push([''])
    else if (index < parts.length) text.push('')
  }
  const made = texts.map((each) => Object.assign(each, { raw: each }))
  knownTexts.set(strings, made)
  return made
}

/** Texts of joined clauses that are kept. Those of the program are fewer. */
const maxJoined = 2_000
/** By the templates of the clauses, as numbers. */
const joinedTexts = new Map<string, TemplateStringsArray>()
const numbers = new WeakMap<TemplateStringsArray, number>()
let lastNumber = 0

const numberOf = (strings: TemplateStringsArray): number => {
  const known = numbers.get(strings) ?? ++lastNumber
  numbers.set(strings, known)
  return known
}

const joined = (clauses: readonly Statement[]): Statement => {
  const key = clauses.map(({ strings }) => numberOf(strings)).join()
  const values = clauses.flatMap((each) => each.values)
  const known = joinedTexts.get(key)
  if (known) return { strings: known, values }
  const texts = ['']
  for (const { strings } of clauses) {
    texts[texts.length - 1] += strings[0] ?? ''
    texts.push(...strings.slice(1))
  }
  const whole = Object.assign(texts, { raw: texts })
  if (joinedTexts.size >= maxJoined) joinedTexts.clear()
  joinedTexts.set(key, whole)
  return { strings: whole, values }
}

/**
 * A value as both databases store it. Throws UnstorableValueError (a TypeError) for a value that one of them would not
 * store unchanged.
 */
export const toColumnValue = (value: Value | undefined): Value => {
  // PostgreSQL rejects NUL, and stores every lone surrogate as U+FFFD: two different names would become the same.
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw new UnstorableValueError('text for the database must not contain NUL or a lone surrogate')
  }
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new UnstorableValueError('a number for the database must be an integer')
  }
  return value ?? null
}

/** By the number. */
const limits = new Map<number, Statement>()

/**
 * `limit` with the number in the text: PostgreSQL expects of a parameter that it takes a tenth of the rows, and reads a
 * whole table for so many. Each number is a statement of its own, so this is for the few that a program has.
 */
export const limitTo = (max: number): Statement => {
  const known = limits.get(max)
  if (known) return known
  if (!Number.isSafeInteger(max) || max < 0) throw new TypeError('a limit must be an integer from 0')
  const texts = [`limit ${max}`]
  const made = { strings: Object.assign(texts, { raw: texts }), values: [] }
  if (limits.size >= maxJoined) limits.clear()
  limits.set(max, made)
  return made
}

/** Clauses with commas between them. */
export const withCommas = (clauses: readonly Statement[]): readonly Statement[] =>
  clauses.flatMap((each, index) => (index === 0 ? [each] : [comma, each]))

const comma = clause`, `

/**
 * Values with commas between them, for `in (…)`: at least one. The last one is repeated up to the next power of two, so
 * that lists of all lengths are few statements: a connection keeps each prepared.
 */
export const valueList = (values: readonly Value[]): readonly Statement[] => {
  const length = values.length > maxPadded ? values.length : 2 ** Math.ceil(Math.log2(values.length))
  return withCommas(Array.from({ length }, (_, index) => clause`${values[Math.min(index, values.length - 1)]}`))
}

/** With more, a statement could have more parameters than SQLite allows (https://sqlite.org/limits.html). */
const maxPadded = 4_096

/** Renders statements with numbered parameters (`$1` or `?1`). Each template in the source is rendered once. */
export const renderStatement = (mark: '$' | '?') => {
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
