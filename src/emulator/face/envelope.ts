import type { Envelope } from '../envelope.ts'
import { field } from '../items.ts'
import { objectOf } from '../members.ts'

/** The names of the two actions. */
export function isFaceAction(action: string): boolean {
  return action === 'CreateVisualValidateSession' || action === 'GetVisualValidateResult'
}

/** Successes without an envelope. */
export function flat(envelope: Envelope): Envelope {
  return { ...envelope, result: (answer) => ('result' in answer ? answer.result : envelope.result(answer)) }
}

/** What a service of the rest shape says of its own tasks: neither successes nor errors have Ark's envelope. */
export function serviceEnvelope(envelope: Envelope): Envelope {
  const error = (message: string) => field('error', { message, type: 'media_proxy_error' })
  return {
    ...flat(envelope),
    error: ({ message }) => objectOf([field('success', false), error(message)]),
  }
}
