import type { TextAction } from '../../action-names.ts'
import type { Settings } from '../../options.ts'
import { raise } from '../../shared/raise.ts'
import type { Json } from '../../shared/reader.ts'
import { badRequest, OpenAIError, wrongType, wrongValue } from '../openai-error.ts'
import { jsonSteps, type Steps, streamSteps } from '../output/steps.ts'
import { checkId } from './context.ts'
import type { TextObjects } from './objects.ts'
import { followed, hasEnded, isBackground, responseAt, type StoredResponse } from './stored.ts'

/** Handlers of the calls that address a stored object, by action. They receive the object's id and the query. */
export type ObjectCalls = { readonly [Action in TextAction]?: (id: string, query: URLSearchParams) => Steps }

/** The response to a request that creates a response in the background. */
export const createdInBackground = (
  response: StoredResponse,
  { text, clock }: Settings,
  objects: TextObjects,
): Steps => {
  if (!response.generated.request.streams) return jsonSteps(200, responseAt(response, clock(), text))
  return streamSteps(followed(response, -1, { clock, text, objects }))
}

/** The handlers of calls that address a stored response. */
export const responseCalls = ({ text, clock }: Settings, objects: TextObjects): ObjectCalls => {
  const found = (id: string): StoredResponse => {
    checkId('response_id', id, 'resp')
    return objects.response(id) ?? raise(new OpenAIError(404, `Response with id '${id}' not found.`))
  }

  const currentState = (response: StoredResponse) => jsonSteps(200, responseAt(response, clock(), text))

  return {
    GetResponse(id, query) {
      const response = found(id)
      if (query.get('stream') !== 'true') return currentState(response)
      if (isBackground(response) && response.generated.request.streams) {
        const after = integerIn(query, 'starting_after', 0, Number.MAX_SAFE_INTEGER) ?? -1
        return streamSteps(followed(response, after, { clock, text, objects }))
      }
      const errorMessage = "Only a response that was created with 'background' and 'stream' can be streamed."
      throw badRequest('stream', 'invalid_value', errorMessage)
    },
    DeleteResponse(id) {
      objects.stored.delete(found(id).id)
      return jsonSteps(200, { id, object: 'response.deleted', deleted: true })
    },
    CancelResponse(id) {
      const response = found(id)
      if (!isBackground(response)) throw new OpenAIError(400, 'Cannot cancel a synchronous response.')
      if (!hasEnded(response, clock(), text)) response.cancelled = true
      return currentState(response)
    },
    ListInputItems(id, query) {
      const { earlier, input } = found(id)
      return jsonSteps(
        200,
        textPageOf(
          [...earlier, ...input].map(({ json }) => json),
          query,
        ),
      )
    },
  }
}

/**
 * One page of a list in order of creation, by `limit` (default 20), `order` (default `desc`) and `after`, an item id.
 */
const textPageOf = (items: readonly Json[], query: URLSearchParams): object => {
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
const integerIn = (query: URLSearchParams, name: string, min: number, max: number): number | undefined => {
  const given = query.get(name)
  if (given === null) return undefined
  if (!/^-?\d{1,15}$/.test(given)) throw wrongType(name, 'an integer', given)
  const value = Number(given)
  if (value >= min && value <= max) return value
  const [side, sign, bound] = value < min ? ['below min', '>=', min] : ['above max', '<=', max]
  const errorMessage = `Invalid '${name}': integer ${side}imum value. Expected a value ${sign} ${bound}, but got ${value} instead.`
  throw badRequest(name, `integer_${side.replace(' ', '_')}_value`, errorMessage)
}
