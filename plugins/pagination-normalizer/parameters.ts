import { readId } from '../shared/id.ts'
import type { Json } from '../shared/json.ts'
import { Problem } from '../shared/problem.ts'
import { limitLength } from '../shared/text.ts'
import type { Query } from './query.ts'

/** One of some words, exactly spelled. */
export interface WordRule {
  readonly kind: 'word'
  readonly words: readonly string[]
  readonly default?: string
}
/** Any number of some words, or of ids where there are no words: an array in a body, comma-separated or repeated in a query. */
export interface ListRule {
  readonly kind: 'list'
  readonly words?: readonly string[]
}
/** Any text of at most `max` Unicode code points. */
export interface TextRule {
  readonly kind: 'text'
  readonly max: number
}

/** The parameters that a list endpoint knows. Others are ignored. */
export interface ListRules {
  /** Told apart from other endpoints when a token comes back: any constant text. */
  readonly endpoint: string
  readonly filters: Readonly<Record<string, WordRule | ListRule | TextRule>>
  /** Fields to sort by; the first is the default. */
  readonly sortBy: readonly [string, ...string[]]
  /** Default 10. */
  readonly defaultPageSize?: number
  /** Default 100. */
  readonly maxPageSize?: number
}

/** A list request in its one normal form, however it was written. */
export interface ListRequest {
  readonly endpoint: string
  readonly filter: Readonly<Record<string, string | readonly string[]>>
  readonly sortBy: string
  readonly sortOrder: 'Asc' | 'Desc'
  /** 1 to `maxPageSize`. */
  readonly pageSize: number
  /** From 1. Counts where `nextToken` is absent or invalid. */
  readonly pageNumber: number
  /** As it was sent, unchecked. */
  readonly nextToken: string | undefined
}

/**
 * Reads the parameters of a list endpoint from the query and a JSON body of the shape `{"Filter":{…},"PageNumber","PageSize"}`; parameter by parameter
 * the query wins, and what is empty is absent ("Common rules for list endpoints").
 *
 * Throws Problem 400 that names the parameter.
 */
export const readListRequest = (rules: ListRules, query: Query, body?: Json): ListRequest => {
  const filterBody = body?.get('Filter')
  if (filterBody && !filterBody.isObject && !filterBody.is('null')) throw new Problem(400, 'Filter must be an object')
  if (body) refuseRepeated(body, ['Filter', ...paging])
  if (filterBody) refuseRepeated(filterBody, [...Object.keys(rules.filters), ...paging])

  const one = (name: string, places: readonly (Json | undefined)[]) =>
    fromQuery(query, name) ?? firstPresent(places, (place) => scalar(name, place.get(name)))
  const many = (name: string) =>
    listFromQuery(query, name) ?? firstPresent([filterBody], (place) => array(name, place.get(name)))

  const inFilter = [filterBody]
  const inBody = [body]
  const filter: Record<string, string | readonly string[]> = {}
  for (const name in rules.filters) {
    const rule = rules.filters[name] as ListRule | TextRule | WordRule
    const value = rule.kind === 'list' ? readList(name, rule, many(name)) : readText(name, rule, one(name, inFilter))
    if (value !== undefined) filter[name] = value
  }
  const anywhere = [body, filterBody]
  const most = rules.maxPageSize ?? 100
  const pageSize = readInteger('PageSize', one('PageSize', inBody), most)
  const maxResults = readInteger('MaxResults', one('MaxResults', anywhere), most)
  return {
    endpoint: rules.endpoint,
    filter,
    sortBy: oneOf('SortBy', one('SortBy', anywhere), rules.sortBy) ?? rules.sortBy[0],
    sortOrder: oneOf('SortOrder', one('SortOrder', anywhere), ['Desc', 'Asc']) ?? 'Desc',
    pageSize: pageSize ?? maxResults ?? rules.defaultPageSize ?? 10,
    pageNumber: readInteger('PageNumber', one('PageNumber', inBody), Number.MAX_SAFE_INTEGER) ?? 1,
    nextToken: one('NextToken', anywhere),
  }
}

const paging = ['PageNumber', 'PageSize', 'MaxResults', 'NextToken', 'SortBy', 'SortOrder']

/** A key that stands twice is read differently by different programs. */
const refuseRepeated = (json: Json, names: readonly string[]): void => {
  for (const name of names) {
    const count = json.members().filter((member) => member.key === name).length
    if (count > 1) throw repeated(name)
  }
}

const repeated = (name: string) => new Problem(400, `${name} is given more than once`)

/** Its one value that is not empty. */
const fromQuery = (query: Query, wanted: string): string | undefined => {
  let found: string | undefined
  for (const [name, value] of query) {
    if (name !== wanted || value === '') continue
    if (found !== undefined) throw repeated(name)
    found = value
  }
  return found
}

const listFromQuery = (query: Query, wanted: string): readonly string[] | undefined => {
  let entries: string[] | undefined
  for (const [name, value] of query) {
    if (name !== wanted) continue
    entries ??= []
    entries.push(...value.split(','))
  }
  return entries && present(entries)
}

const firstPresent = <Value>(
  places: readonly (Json | undefined)[],
  read: (place: Json) => Value | undefined,
): Value | undefined => {
  for (const place of places) {
    const value = place && read(place)
    if (value !== undefined) return value
  }
  return undefined
}

const isAbsent = (json: Json | undefined): json is undefined =>
  json === undefined || json.is('null') || json.raw === '""'

/** A string or number of a body, as the query would spell it. */
const scalar = (name: string, json: Json | undefined): string | undefined => {
  if (isAbsent(json)) return undefined
  const numeric = paging.slice(0, 3).includes(name)
  if (numeric && typeof json.value() === 'number') return String(json.value())
  const text = json.string()
  if (text === undefined) throw new Problem(400, `${name} must be ${numeric ? 'an integer' : 'a string'}`)
  return text
}

const array = (name: string, json: Json | undefined): readonly string[] | undefined => {
  if (isAbsent(json)) return undefined
  const texts = json.elements().map((element) => element.string())
  if (!json.isArray || texts.includes(undefined)) throw new Problem(400, `${name} must be an array of strings`)
  return present(texts as string[])
}

/** Without empty and repeated entries; undefined when none is left. */
const present = (entries: readonly string[]): readonly string[] | undefined => {
  const kept = new Set(entries.filter((entry) => entry !== ''))
  return kept.size === 0 ? undefined : [...kept]
}

const readList = (name: string, rule: ListRule, entries: readonly string[] | undefined) => {
  for (const entry of entries ?? []) {
    if (rule.words) oneOf(name, entry, rule.words)
  }
  // What cannot be an id is kept: it is nobody's, and has to be refused as such rather than dropped.
  return entries?.map((entry) => (rule.words ? entry : (readId(entry) ?? '\0')))
}

const readText = (name: string, rule: WordRule | TextRule, text: string | undefined): string | undefined => {
  if (rule.kind === 'word') return oneOf(name, text, rule.words) ?? rule.default
  if (text !== undefined) limitLength(name, text, rule.max)
  return text
}

const oneOf = <Word extends string>(
  name: string,
  text: string | undefined,
  words: readonly Word[],
): Word | undefined => {
  if (text === undefined) return undefined
  const word = words.find((candidate) => candidate === text)
  if (word === undefined) throw new Problem(400, `${name} must be one of ${words.join(', ')}`)
  return word
}

const readInteger = (name: string, text: string | undefined, most: number): number | undefined => {
  if (text === undefined) return undefined
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > most || !Number.isSafeInteger(value)) {
    const bound = most === Number.MAX_SAFE_INTEGER ? 'of at least 1' : `from 1 to ${most}`
    throw new Problem(400, `${name} must be an integer ${bound}`)
  }
  return value
}
