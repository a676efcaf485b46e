import { absent, refused, wrongType, wrongValue } from './refusal.ts'

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>

/** Reads the fields of an object; what does not fit is refused with its path. Null counts as absent. */
export interface Reader {
  readonly raw: Json
  /** the path of a field */
  path(name: string): string
  has(name: string): boolean
  text(name: string): string | undefined
  needed(name: string): string
  flag(name: string): boolean | undefined
  /** a number in a range, both ends included */
  number(name: string, least: number, most: number): number | undefined
  /** a whole number in a range, both ends included */
  whole(name: string, least: number, most: number): number | undefined
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined
  object(name: string): Reader | undefined
  /** the objects of an array; empty when absent */
  objects(name: string): Reader[]
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function readerOf(raw: Json, at = ''): Reader {
  const path = (name: string) => (at === '' ? name : `${at}.${name}`)
  const value = (name: string) => raw[name] ?? undefined

  function typed<Type>(name: string, expected: string, fits: (value: unknown) => value is Type): Type | undefined {
    const given = value(name)
    if (given === undefined || fits(given)) return given
    throw wrongType(path(name), expected, given)
  }

  function number(name: string, least: number, most: number, sort = 'decimal'): number | undefined {
    const given = typed(name, sort === 'integer' ? 'an integer' : 'a decimal', isNumber)
    if (given === undefined) return undefined
    if (sort === 'integer' && !Number.isInteger(given)) throw wrongType(path(name), 'an integer', given)
    const [side, sign, bound] = given < least ? ['below min', '>=', least] : ['above max', '<=', most]
    if (given >= least && given <= most) return given
    const words = `Invalid '${path(name)}': ${sort} ${side}imum value. Expected a value ${sign} ${bound}, but got ${given} instead.`
    throw refused(path(name), `${sort}_${side.replace(' ', '_')}_value`, words)
  }

  return {
    raw,
    path,
    has: (name) => value(name) !== undefined,
    text: (name) => typed(name, 'a string', isText),
    needed: (name) => typed(name, 'a string', isText) ?? raise(absent(path(name))),
    flag: (name) => typed(name, 'a boolean', isFlag),
    number,
    whole: (name, least, most) => number(name, least, most, 'integer'),
    word(name, words) {
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
        const place = `${path(name)}[${index}]`
        if (!isJson(item)) throw wrongType(place, 'an object', item)
        return readerOf(item, place)
      })
    },
  }
}

export function raise(error: Error): never {
  throw error
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
