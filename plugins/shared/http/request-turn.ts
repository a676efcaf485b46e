import { setImmediate } from 'node:timers'
import { afterIo } from '../background/turns.ts'

/**
 * For a listener, before each request: undefined if the request may be handled now; otherwise wait for the promise.
 *
 * A turn of the event loop handles some requests only. Bun (1.4.5) accepts connections in one turn for as long as there
 * are more, and handles their first requests in between: callers that open a new connection for each request, and get
 * each response at once, would keep the requests on all other connections waiting, for ever.
 */
export const requestTurn = (): Promise<void> | undefined => {
  if (isFull) return new Promise((resolve) => waiting.push(resolve))
  if (++begun === requestsPerTurn) {
    isFull = true
    setImmediate(beginNext)
  }
  return undefined
}

/** Most requests of the default server take a fraction of a millisecond at once. */
const requestsPerTurn = 16

const waiting: (() => void)[] = []
/**
 * Requests of this turn, and perhaps of earlier ones: only each 16th looks for the end of its turn, because that costs
 * an immediate.
 */
let begun = 0
/** Whether later requests must wait for the next turn. */
let isFull = false

const beginNext = (): void => {
  const next = waiting.splice(0, requestsPerTurn)
  begun = next.length
  isFull = begun === requestsPerTurn
  if (isFull) afterIo(beginNext)
  for (const resolve of next) resolve()
}
