import { invalid, missing } from '../api/ark-error.ts'
import type { Member } from './members.ts'
import { raise } from './raise.ts'

/** What a field of a fault may be. */
export interface FieldType {
  /** for error messages: `a number from 0` */
  readonly name: string
  readonly isOptional?: boolean
  accepts(value: unknown): boolean
}

export const optional = (type: FieldType): FieldType => ({ ...type, isOptional: true })

/** One of these texts. */
export const oneOf = (...texts: readonly string[]): FieldType => ({
  name: `one of ${texts.join(', ')}`,
  accepts: (value) => texts.some((text) => text === value),
})

/** Either of two types. */
export const either = (one: FieldType, other: FieldType): FieldType => ({
  name: `${one.name} or ${other.name}`,
  accepts: (value) => one.accepts(value) || other.accepts(value),
})

export const text: FieldType = { name: 'a string', accepts: (value) => typeof value === 'string' }

export const flag: FieldType = { name: 'true or false', accepts: (value) => typeof value === 'boolean' }

/** Includes Infinity. */
export const amount: FieldType = {
  name: 'a number from 0',
  accepts: (value) => typeof value === 'number' && value >= 0,
}

export const fraction: FieldType = {
  name: 'a number from 0 to 1',
  accepts: (value) => amount.accepts(value) && Number(value) <= 1,
}

export const status: FieldType = {
  name: 'an HTTP status',
  accepts: (value) => Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 999,
}

export const object: FieldType = {
  name: 'an object',
  accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

export const callback: FieldType = { name: 'a function', accepts: (value) => typeof value === 'function' }

export const pattern: FieldType = { name: 'a pattern', accepts: (value) => value instanceof RegExp }

/** Reads request parameters by name. The last one of duplicate keys counts. `null` counts as absent. */
export interface Fields {
  value(name: string): unknown
  /** a string of at most `maxLength` code points; undefined when absent */
  text(name: string, maxLength?: number): string | undefined
  /** a required string: throws when it is absent or empty */
  required(name: string, maxLength?: number): string
  /** one of the given words; undefined when absent or empty */
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined
  /** a list of strings, empty when absent */
  list(name: string): string[]
  /** an integer from `min` to `max`; undefined when absent */
  integer(name: string, min: number, max: number): number | undefined
  /** a nested object; undefined when absent */
  object(name: string): Record<string, unknown> | undefined
}

/** A reader of the given members. Its methods throw 400 `InvalidParameter` or `MissingParameter` for invalid values. */
export const fieldsOf = (members: readonly Pick<Member, 'name' | 'value'>[]): Fields => {
  const last = new Map(members.map((member) => [member.name, member.value]))

  const value = (name: string): unknown => {
    const raw = last.get(name)
    return raw === undefined ? undefined : ((JSON.parse(raw) as unknown) ?? undefined)
  }

  const text = (name: string, maxLength = 4096): string | undefined => {
    const given = value(name)
    if (given === undefined) return undefined
    if (typeof given !== 'string') throw invalid(name, `The parameter ${name} must be a string.`)
    if ([...given].length > maxLength) {
      throw invalid(name, `The parameter ${name} must have at most ${maxLength} characters.`)
    }
    return given
  }

  const required = (name: string, maxLength?: number): string => text(name, maxLength) || raise(missing(name))

  const oneOf = <Word extends string>(name: string, words: readonly Word[]): Word | undefined => {
    const given = text(name)
    if (given === undefined || given === '') return undefined
    const known = words.find((candidate) => candidate === given)
    return known ?? raise(invalid(name, `The parameter ${name} must be one of ${words.join(', ')}.`))
  }

  const list = (name: string): string[] => {
    const given = value(name) ?? []
    const fine = Array.isArray(given) && given.every((item): item is string => typeof item === 'string')
    return fine ? given : raise(invalid(name, `The parameter ${name} must be a list of strings.`))
  }

  const integer = (name: string, min: number, max: number): number | undefined => {
    const given = value(name)
    if (given === undefined) return undefined
    if (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max) return given
    throw invalid(name, `The parameter ${name} must be an integer from ${min} to ${max}.`)
  }

  const object = (name: string): Record<string, unknown> | undefined => {
    const given = value(name)
    if (given === undefined) return undefined
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw invalid(name, `The parameter ${name} must be an object.`)
    }
    return { ...given }
  }

  return { value, text, required, oneOf, list, integer, object }
}

/** A reader of an already parsed object, such as `Filter`. */
export const fieldsIn = (object: Record<string, unknown>): Fields =>
  fieldsOf(Object.entries(object).map(([name, value]) => ({ name, value: JSON.stringify(value ?? null) })))
