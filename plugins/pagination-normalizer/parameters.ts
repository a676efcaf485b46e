import { readId } from '../shared/id.ts'
import type { Json } from '../shared/json/json.ts'
import { Problem } from '../shared/problem.ts'
import { limitLength } from '../shared/text.ts'

/** Exactly one of the listed words; case matters. */
export interface WordRule {
  readonly kind: 'word'
  readonly words: readonly string[]
  readonly default?: string
}
/**
 * Any number of the listed words, or of ids when there are no words. An array in a body; comma-separated or repeated in
 * a query.
 */
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
  /** Any constant text. A token is valid only for the endpoint that issued it. */
  readonly endpoint: string
  readonly filters: Readonly<Record<string, WordRule | ListRule | TextRule>>
  /** Fields to sort by; the first is the default. */
  readonly sortBy: readonly [string, ...string[]]
  /** Default 10. */
  readonly defaultPageSize?: number
  /** Default 100. */
  readonly maxPageSize?: number
}

/** A list request in normal form: the same for query and body parameters. */
export interface ListRequest {
  readonly endpoint: string
  readonly filter: Readonly<Record<string, string | readonly string[]>>
  readonly sortBy: string
  readonly sortOrder: 'Asc' | 'Desc'
  /** 1 to `maxPageSize`. */
  readonly pageSize: number
  /** From 1. Applies when `nextToken` is absent or invalid. */
  readonly pageNumber: number
  /** As the caller sent it, not verified. */
  readonly nextToken: string | undefined
}

/**
 * Reads the parameters of a list endpoint from the query and from a JSON body of the shape
 * `{"Filter":{…},"PageNumber","PageSize"}`.
 *
 * The query has priority over the body, parameter by parameter. An empty value counts as absent. Throws Problem 400
 * that names the parameter.
 */
export const readListRequest = (rules: ListRules, query: Query, body?: Json): ListRequest => {
  const filterBody = body?.get('Filter')
  if (filterBody && !filterBody.isObject && !filterBody.is('null')) throw new Problem(400, 'Filter must be an object')
  if (body) rejectDuplicateKeys(body, ['Filter', ...paging])
  if (filterBody) rejectDuplicateKeys(filterBody, [...Object.keys(rules.filters), ...paging])

  const one = (name: string, objects: readonly (Json | undefined)[]) =>
    fromQuery(query, name) ?? firstPresent(objects, (object) => scalar(name, object.get(name)))
  const many = (name: string) =>
    listFromQuery(query, name) ?? firstPresent([filterBody], (object) => array(name, object.get(name)))

  const inFilter = [filterBody]
  const inBody = [body]
  const filter: Record<string, string | readonly string[]> = {}
  for (const name in rules.filters) {
    const rule = rules.filters[name] as ListRule | TextRule | WordRule
    const value = rule.kind === 'list' ? readList(name, rule, many(name)) : readText(name, rule, one(name, inFilter))
    if (value !== undefined) filter[name] = value
  }
  const anywhere = [body, filterBody]
  const maxPageSize = rules.maxPageSize ?? 100
  const pageSize = readInteger('PageSize', one('PageSize', inBody), maxPageSize)
  const maxResults = readInteger('MaxResults', one('MaxResults', anywhere), maxPageSize)
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

/** JSON parsers disagree about duplicate keys (RFC 8259, section 4): some use the first, some the last. */
const rejectDuplicateKeys = (json: Json, names: readonly string[]): void => {
  // Without a text for each key of the body, of which there may be many.
  for (const name of names) if (json.all(name).length > 1) throw repeated(name)
}

const repeated = (name: string) => new Problem(400, `${name} is given more than once`)

/** The only value of a parameter that is not empty. */
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
  objects: readonly (Json | undefined)[],
  read: (object: Json) => Value | undefined,
): Value | undefined => {
  for (const object of objects) {
    const value = object && read(object)
    if (value !== undefined) return value
  }
  return undefined
}

const isAbsent = (json: Json | undefined): json is undefined =>
  json === undefined || json.is('null') || json.raw === '""'

/** A string or number from a body, as text. */
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

/** Removes empty and repeated entries. Undefined when none is left. */
const present = (entries: readonly string[]): readonly string[] | undefined => {
  const kept = new Set(entries.filter((entry) => entry !== ''))
  return kept.size === 0 ? undefined : [...kept]
}

const readList = (name: string, rule: ListRule, entries: readonly string[] | undefined) => {
  for (const entry of entries ?? []) {
    if (rule.words) oneOf(name, entry, rule.words)
  }
  // An entry that cannot be an id becomes one that no group has. Dropping it would widen the filter.
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

const readInteger = (name: string, text: string | undefined, max: number): number | undefined => {
  if (text === undefined) return undefined
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max || !Number.isSafeInteger(value)) {
    const bound = max === Number.MAX_SAFE_INTEGER ? 'of at least 1' : `from 1 to ${max}`
    throw new Problem(400, `${name} must be an integer ${bound}`)
  }
  return value
}

/** Decoded query parameters, repeated ones included. A `URLSearchParams` is a `Query` too. */
export type Query = Iterable<readonly [name: string, value: string]>

/** Parses the query of a URL like `URLSearchParams` (URL Standard, section 5.1), which takes several times as long. */
export const queryOf = (url: string): Query => {
  const pairs: [string, string][] = []
  const mark = url.indexOf('?')
  if (mark === -1) return pairs
  for (const pair of url.slice(mark + 1).split('&')) {
    const end = pair.indexOf('=')
    if (end !== -1) pairs.push([decode(pair.slice(0, end)), decode(pair.slice(end + 1))])
    else if (pair !== '') pairs.push([decode(pair), ''])
  }
  return pairs
}

/** Most names and values need no decoding. */
const decode = (text: string): string =>
  text.includes('%') || text.includes('+') ? (new URLSearchParams(`=${text}`).get('') ?? '') : text
