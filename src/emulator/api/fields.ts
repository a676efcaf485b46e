import type { Member } from '../shared/members.ts'
import { raise } from '../shared/raise.ts'
import { invalid, missing } from './ark-error.ts'

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
