import { raise } from '../shared/raise.ts'
import { badRequest, missingField, wrongType, wrongValue } from './openai-error.ts'

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>

/** Reads and validates the fields of an object. Its methods throw 400 with the path of the field. Null counts as absent. */
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
    throw wrongType(path(name), expected, given)
  }

  const number = (name: string, min: number, max: number, type = 'decimal'): number | undefined => {
    const given = typed(name, type === 'integer' ? 'an integer' : 'a decimal', isNumber)
    if (given === undefined) return undefined
    if (type === 'integer' && !Number.isInteger(given)) throw wrongType(path(name), 'an integer', given)
    const [side, sign, bound] = given < min ? ['below min', '>=', min] : ['above max', '<=', max]
    if (given >= min && given <= max) return given
    const words = `Invalid '${path(name)}': ${type} ${side}imum value. Expected a value ${sign} ${bound}, but got ${given} instead.`
    throw badRequest(path(name), `${type}_${side.replace(' ', '_')}_value`, words)
  }

  return {
    raw,
    path,
    has: (name) => value(name) !== undefined,
    text: (name) => typed(name, 'a string', isText),
    required: (name) => typed(name, 'a string', isText) ?? raise(missingField(path(name))),
    boolean: (name) => typed(name, 'a boolean', isFlag),
    number,
    integer: (name, min, max) => number(name, min, max, 'integer'),
    oneOf(name, words) {
      const given = typed(name, `one of ${words.map((word) => `'${word}'`).join(', ')}`, isText)
      if (given === undefined) return undefined
      return words.find((word) => word === given) ?? raise(wrongValue(path(name), given, words))
    },
    object(name) {
      const given = typed(name, 'an object', isJson)
      return given && readerOf(given, path(name))
    },
    objects(name) {
      const given = typed(name, 'an array of objects', isList) ?? []
      return given.map((item, index) => {
        const itemPath = `${path(name)}[${index}]`
        if (!isJson(item)) throw wrongType(itemPath, 'an object', item)
        return readerOf(item, itemPath)
      })
    },
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
