import { FieldProblem } from '../shared/field-problem.ts'
import { isTokenModel, maxTokenModelLength, maxTokenModels } from '../shared/identity/models.ts'
import { defaultScopes, isScope, type Role, type Scope, scopes } from '../shared/identity/scopes.ts'
import type { OperationTools } from './operation-tools.ts'

/** What a client or a command gives for the fields of an object: parsed JSON, not checked yet. */
export type Input = Readonly<Record<string, unknown>>

/** Throws FieldProblem 400 for fields that are not known: a field with a wrong name must not be ignored. */
export const checkFields = (input: Input, known: readonly string[]): void => {
  const unknown = Object.keys(input).find((name) => !known.includes(name))
  // Not the name itself: it may be long, and anybody may have written it.
  if (unknown !== undefined) throw fault('', `unknown field: the fields are ${known.join(', ')}`)
}

/** Problem 400 for a field. */
export const fault = (field: string, message: string): FieldProblem =>
  new FieldProblem(400, message, field === '' ? {} : { param: field })

/** Reads a field that may be absent. */
export const optional = <Value>(
  input: Input,
  field: string,
  read: (value: unknown, field: string) => Value,
): Value | undefined => (input[field] === undefined ? undefined : read(input[field], field))

/** Reads a field that may be absent, or null: then a change takes the value away. */
export const valueOrNull = <Value>(
  input: Input,
  field: string,
  read: (value: unknown, field: string) => Value,
): Value | null | undefined => (input[field] === null ? null : optional(input, field, read))

/**
 * What no one sees in a text, or what turns around the text after it. The joiners U+200C and U+200D belong to scripts
 * and emoji.
 */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u

/** A text of one line: 1 to `max` characters without spaces around it, and none that is invisible. */
export const readLine =
  (max: number) =>
  (value: unknown, field: string): string => {
    const valid =
      typeof value === 'string' &&
      value.length <= 2 * max &&
      [...value].length <= max &&
      value !== '' &&
      value.trim() === value &&
      !invisible.test(value) &&
      /[^\p{M}\p{Cf}]/u.test(value) &&
      value.isWellFormed()
    if (valid) return value
    throw fault(
      field,
      `${field} must have 1 to ${max} characters, no control characters or invisible ones, and no spaces around it`,
    )
  }

/** Characters of the name of a user or a team. */
const maxNameLength = 128

export const readName = readLine(maxNameLength)
export const readLabel = readLine(128)
export const readExternalId = readLine(256)

/** The id of an object. One that cannot exist is a text, too: it is then unknown. */
export const readReference = (value: unknown, field: string): string => {
  if (typeof value === 'string' && value.length <= 1_024 && value.isWellFormed() && !value.includes('\0')) return value
  throw fault(field, `${field} must be an id`)
}

export const readFlag = (value: unknown, field: string): boolean => {
  if (typeof value === 'boolean') return value
  throw fault(field, `${field} must be true or false`)
}

export const readRole = (value: unknown, field: string): Role => {
  if (value === 'user' || value === 'admin') return value
  throw fault(field, `${field} must be user or admin`)
}

export const readText = (value: unknown, field: string): string => {
  if (typeof value === 'string') return value
  throw fault(field, `${field} must be a string`)
}

/** Reads a list of limits. Returns it as JSON text. */
export const limitsReader =
  (parseLimits: OperationTools['parseLimits']) =>
  (value: unknown): string => {
    const limits = parseLimits(value)
    if ('problem' in limits) throw fault('limits', limits.problem)
    return JSON.stringify(limits)
  }

/** Scopes that also callers who are no admins may give. */
export const grantableScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'admin' && scope !== 'provision')

export const readScopes = (value: unknown, field: string): readonly Scope[] => {
  if (Array.isArray(value) && value.length > 0 && value.length <= scopes.length && value.every(isScope))
    return scopes.filter((scope) => value.includes(scope))
  throw fault(field, `${field} must be a list of one or more of ${scopes.join(', ')}`)
}

/** The scopes of a token that names none. */
export const readNewScopes = (input: Input): readonly Scope[] =>
  input.scopes === null ? defaultScopes : (optional(input, 'scopes', readScopes) ?? defaultScopes)

/** Names of models; `*` at the end of one stands for any rest. */
export const readModels = (value: unknown, field: string): readonly string[] => {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxTokenModels)
    throw fault(field, `${field} must be a list of 1 to ${maxTokenModels} models`)
  const wrong = value.findIndex((model) => !isTokenModel(model))
  if (wrong !== -1) {
    throw fault(
      `${field}[${wrong}]`,
      `${field}[${wrong}] must be a model of 1 to ${maxTokenModelLength} characters, with * at the end only`,
    )
  }
  return [...new Set(value as readonly string[])]
}

const iso = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

/** A date and time in ISO 8601 with a time zone. Milliseconds since 1970. */
export const readTime = (value: unknown, field: string): number => {
  const text = typeof value === 'string' ? value : ''
  const [, year, month, day] = iso.exec(text) ?? []
  const at = Date.parse(text)
  // Some engines accept the 30th of February, others do not.
  const dayExists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  if (dayExists && !Number.isNaN(at)) return at
  throw fault(field, `${field} must be a date and time in ISO 8601 with a time zone`)
}

/** The same, or a day, which begins at midnight in UTC. */
export const readInstant = (value: unknown, field: string): number =>
  readTime(typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00Z` : value, field)

/** A time that has not passed. */
export const readExpiry =
  (now: number) =>
  (value: unknown, field: string): number => {
    const at = readTime(value, field)
    if (at <= now) throw fault(field, `${field} must be in the future`)
    return at
  }

/** A day in UTC. */
export const readDay = (value: unknown, field: string): string => {
  const text = typeof value === 'string' ? value : ''
  const time = Date.parse(`${text}T00:00Z`)
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text))
    return text
  throw fault(field, `${field} must be a day such as 2026-01-31`)
}

/** An integer between two numbers. */
export const integerFrom =
  (min: number, max: number) =>
  (value: unknown, field: string): number => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    throw fault(field, `${field} must be an integer from ${min} to ${max}`)
  }

/** One of some words. */
export const readWord =
  <const Word extends string>(words: readonly Word[]) =>
  (value: unknown, field: string): Word => {
    const found = words.find((word) => word === value)
    if (found !== undefined) return found
    throw fault(field, `${field} must be one of ${words.join(', ')}`)
  }
