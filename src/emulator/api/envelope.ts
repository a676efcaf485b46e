import type { ActionResult } from '../action.ts'
import { listText } from '../library/list-pages.ts'
import type { Settings } from '../options.ts'
import { field, objectOf } from '../shared/members.ts'
import { compactTime } from '../shared/times.ts'
import type { ArkError } from './ark-error.ts'

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

/** Whether an action is one of the two face verification actions. */
export const isFaceAction = (action: string): boolean =>
  action === 'CreateVisualValidateSession' || action === 'GetVisualValidateResult'

/** An envelope that leaves successful results unwrapped. */
export const flat = (envelope: Envelope): Envelope => ({
  ...envelope,
  result: (result) => ('result' in result ? result.result : envelope.result(result)),
})

/** The envelope of verification tasks in the `rest` API: neither results nor errors use Ark's `ResponseMetadata`. */
export const serviceEnvelope = (envelope: Envelope): Envelope => {
  const error = (message: string) => field('error', { message, type: 'media_proxy_error' })
  return {
    ...flat(envelope),
    error: ({ message }) => objectOf([field('success', false), error(message)]),
  }
}
