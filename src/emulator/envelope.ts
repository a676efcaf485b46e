import type { ActionResult } from './action.ts'
import type { ArkError } from './ark-error.ts'
import { field } from './items.ts'
import { listText } from './listing.ts'
import { objectOf } from './members.ts'
import type { Settings } from './settings.ts'
import { compactTime } from './times.ts'

export const service = 'ark'
export const apiVersion = '2024-01-01'

/** Wraps a result or an error of one request in `ResponseMetadata`. */
export interface Envelope {
  readonly requestId: string
  result(result: ActionResult): string
  error(error: ArkError): string
}

/** Creates the envelope of the nth request. Each request has its own request id. */
export const envelopeOf = (action: string, n: number, settings: Settings): Envelope => {
  const requestId = `${compactTime(settings.clock())}${n.toString(16).toUpperCase().padStart(18, '0')}`
  const metadata = {
    RequestId: requestId,
    Action: action,
    Version: apiVersion,
    Service: service,
    Region: settings.region,
  }
  return {
    requestId,
    result: (result) =>
      objectOf([
        field('ResponseMetadata', metadata),
        { raw: `"Result":${'list' in result ? listText(result.list) : result.result}` },
      ]),
    error: ({ code, message }) =>
      objectOf([field('ResponseMetadata', { ...metadata, Error: { Code: code, Message: message } })]),
  }
}
