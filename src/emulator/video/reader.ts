import { invalidField, missingField } from './video-error.ts'

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>

/** Reads and validates the fields of an object. Its methods throw 400 with the path of the field. Null counts as absent. */
export interface Reader {
  readonly raw: Json
  /** the path of a field */
  path(name: string): string
  has(name: string): boolean
  text(name: string, maxLength?: number): string | undefined
  /** a string with at least one character */
  required(name: string): string
  boolean(name: string): boolean | undefined
  /** an integer from `min` to `max` */
  integer(name: string, min: number, max: number): number | undefined
  /** one of the given words */
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined
  object(name: string): Reader
  /** the objects of an array; undefined when absent */
  objects(name: string): Reader[] | undefined
}

/** Whether a value is a JSON object. */
export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A reader of an object. `at`: the path of the object in the request; default the request itself. */
export const readerOf = (raw: Json, at = ''): Reader => {
  const path = (name: string) => (at === '' ? name : `${at}.${name}`)
  const value = (name: string) => raw[name] ?? undefined

  const typed = <Type>(name: string, expected: string, fits: (value: unknown) => value is Type): Type | undefined => {
    const given = value(name)
    if (given === undefined || fits(given)) return given
    throw invalidField(path(name), `it must be ${expected}`)
  }

  const text = (name: string, maxLength = Number.POSITIVE_INFINITY): string | undefined => {
    const given = typed(name, 'a string', (one) => typeof one === 'string')
    if (given === undefined || given.length <= maxLength) return given
    throw invalidField(path(name), `it must have at most ${maxLength} characters`)
  }

  return {
    raw,
    path,
    has: (name) => value(name) !== undefined,
    text,
    required(name) {
      const given = text(name)
      if (given === undefined || given === '') throw missingField(path(name))
      return given
    },
    boolean: (name) => typed(name, 'a boolean', (one) => typeof one === 'boolean'),
    integer(name, min, max) {
      const given = typed(name, 'an integer', isInteger)
      if (given === undefined || (given >= min && given <= max)) return given
      throw invalidField(path(name), `it must be from ${min} to ${max}`)
    },
    oneOf(name, words) {
      const given = text(name)
      const known = words.find((word) => word === given)
      if (given === undefined || known !== undefined) return known
      throw invalidField(path(name), `it must be one of ${words.join(', ')}`)
    },
    object(name) {
      const given = typed(name, 'an object', isJson)
      if (given === undefined) throw missingField(path(name))
      return readerOf(given, path(name))
    },
    objects(name) {
      const given = typed(name, 'an array of objects', isList)
      return given?.map((item, index) => {
        const itemPath = `${path(name)}[${index}]`
        if (!isJson(item)) throw invalidField(itemPath, 'it must be an object')
        return readerOf(item, itemPath)
      })
    },
  }
}

const isInteger = (value: unknown): value is number => Number.isInteger(value)
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
