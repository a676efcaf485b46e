import type { Answer } from './account.ts'
import { field } from './items.ts'
import { listText } from './listing.ts'
import { objectOf } from './members.ts'
import type { Refusal } from './refusal.ts'
import type { Settings } from './settings.ts'
import { compactTime } from './times.ts'

export const SERVICE = 'ark'
export const VERSION = '2024-01-01'

/** Wraps answers and errors into `ResponseMetadata`, with a request id of its own for each. */
export interface Envelope {
  readonly requestId: string
  result(answer: Answer): string
  error(refusal: Refusal): string
}

/** The envelope of the nth request. */
export function envelopeOf(action: string, n: number, settings: Settings): Envelope {
  const requestId = `${compactTime(settings.clock())}${n.toString(16).toUpperCase().padStart(18, '0')}`
  const metadata = { RequestId: requestId, Action: action, Version: VERSION, Service: SERVICE, Region: settings.region }
  return {
    requestId,
    result: (answer) =>
      objectOf([
        field('ResponseMetadata', metadata),
        { raw: `"Result":${'list' in answer ? listText(answer.list) : answer.result}` },
      ]),
    error: ({ code, message }) =>
      objectOf([field('ResponseMetadata', { ...metadata, Error: { Code: code, Message: message } })]),
  }
}
