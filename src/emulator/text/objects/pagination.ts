import type { Json } from '../../shared/reader.ts'
import { badRequest, wrongType, wrongValue } from '../openai-error.ts'

/**
 * One page of a list in order of creation, by `limit` (default 20), `order` (default `desc`) and `after`, an item id.
 */
export const textPageOf = (items: readonly Json[], query: URLSearchParams): object => {
  const limit = integerIn(query, 'limit', 1, 100) ?? 20
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw wrongValue('order', order, ['asc', 'desc'])
  const ordered = order === 'asc' ? items : items.toReversed()
  const after = query.get('after')
  const at = after === null ? -1 : ordered.findIndex(({ id }) => id === after)
  if (after !== null && at < 0) throw badRequest('after', 'invalid_value', `Item with id '${after}' not found.`)
  const data = ordered.slice(at + 1, at + 1 + limit)
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
  return { object: 'list', data, ...ends, has_more: at + 1 + limit < ordered.length }
}

/** An integer query parameter from `min` to `max`; undefined when absent. */
export const integerIn = (query: URLSearchParams, name: string, min: number, max: number): number | undefined => {
  const given = query.get(name)
  if (given === null) return undefined
  if (!/^-?\d{1,15}$/.test(given)) throw wrongType(name, 'an integer', given)
  const value = Number(given)
  if (value >= min && value <= max) return value
  const [side, sign, bound] = value < min ? ['below min', '>=', min] : ['above max', '<=', max]
  const errorMessage = `Invalid '${name}': integer ${side}imum value. Expected a value ${sign} ${bound}, but got ${value} instead.`
  throw badRequest(name, `integer_${side.replace(' ', '_')}_value`, errorMessage)
}
