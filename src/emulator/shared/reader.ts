import { raise } from './raise.ts'

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>

/**
 * Reads and validates the fields of an object. Its methods throw 400 with the path of the field. Null counts as absent.
 */
export interface Reader {
  readonly raw: Json
  /** the path of a field */
  path(name: string): string
  has(name: string): boolean
  text(name: string): string | undefined
  /** a required string */
  required(name: string): string
  boolean(name: string): boolean | undefined
  /** a number from `min` to `max` */
  number(name: string, min: number, max: number): number | undefined
  /** an integer from `min` to `max` */
  integer(name: string, min: number, max: number): number | undefined
  /** one of the given words */
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined
  object(name: string): Reader | undefined
  /** the objects of an array; empty when absent */
  objects(name: string): Reader[]
}

/** The errors of an API for the fields of a request. `path`: the path of the field. */
export interface FieldErrors {
  missing(path: string): Error
  wrongType(path: string, expected: string, given: unknown): Error
  /** a string that is none of the words */
  wrongWord(path: string, given: string, words: readonly string[]): Error
  outOfRange(path: string, range: NumberRange, given: number): Error
  /** whether an empty string counts as missing where one is required */
  readonly emptyIsMissing: boolean
}

export interface NumberRange {
  readonly type: 'integer' | 'decimal'
  readonly min: number
  readonly max: number
}

/** Whether a value is a JSON object. */
export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A reader of an object. `at`: the path of the object in the request; default the request itself. */
export type ReaderOf = (raw: Json, at?: string) => Reader

/** The readers of an API. */
export const createReaderOf = (errors: FieldErrors): ReaderOf => {
  const readerOf: ReaderOf = (raw, at = '') => {
    const path = (name: string) => (at === '' ? name : `${at}.${name}`)
    const value = (name: string) => raw[name] ?? undefined

    const typed = <Type>(name: string, expected: string, fits: (value: unknown) => value is Type): Type | undefined => {
      const given = value(name)
      if (given === undefined || fits(given)) return given
      throw errors.wrongType(path(name), expected, given)
    }

    const number = (name: string, range: NumberRange): number | undefined => {
      const expected = range.type === 'integer' ? 'an integer' : 'a decimal'
      const given = typed(name, expected, isNumber)
      if (given === undefined) return undefined
      if (range.type === 'integer' && !Number.isInteger(given)) throw errors.wrongType(path(name), expected, given)
      if (given >= range.min && given <= range.max) return given
      throw errors.outOfRange(path(name), range, given)
    }

    return {
      raw,
      path,
      has: (name) => value(name) !== undefined,
      text: (name) => typed(name, 'a string', isText),
      required(name) {
        const given = typed(name, 'a string', isText)
        if (given === undefined || (given === '' && errors.emptyIsMissing)) throw errors.missing(path(name))
        return given
      },
      boolean: (name) => typed(name, 'a boolean', isFlag),
      number: (name, min, max) => number(name, { type: 'decimal', min, max }),
      integer: (name, min, max) => number(name, { type: 'integer', min, max }),
      oneOf(name, words) {
        const given = typed(name, `one of ${words.map((word) => `'${word}'`).join(', ')}`, isText)
        if (given === undefined) return undefined
        return words.find((word) => word === given) ?? raise(errors.wrongWord(path(name), given, words))
      },
      object(name) {
        const given = typed(name, 'an object', isJson)
        return given && readerOf(given, path(name))
      },
      objects(name) {
        const given = typed(name, 'an array of objects', isList) ?? []
        return given.map((item, index) => {
          const itemPath = `${path(name)}[${index}]`
          if (!isJson(item)) throw errors.wrongType(itemPath, 'an object', item)
          return readerOf(item, itemPath)
        })
      },
    }
  }
  return readerOf
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
