import type { Envelope } from '../api/envelope.ts'
import { field } from '../library/items.ts'
import { objectOf } from '../shared/members.ts'

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
