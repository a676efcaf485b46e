import type { ActionRequest, ReceivedRequest } from '../action.ts'
import type { Call } from '../calls.ts'
import { type Member, membersOf } from '../shared/members.ts'
import { ArkError } from './ark-error.ts'
import type { Envelope } from './envelope.ts'

/** One of the two asset APIs of the account. */
export interface AssetApi {
  readonly name: Exclude<Call['api'], 'text' | 'video'>
  /** the credential that a `leak` fault puts into a response */
  readonly secret: string
  /** name of the requested action, before authentication; empty when no action matches */
  actionOf(request: ReceivedRequest): string
  /** authenticates and parses the request; throws a `ArkError` when that fails */
  parseRequest(request: ReceivedRequest): ActionRequest
  /** the response envelope of this API and action; `envelope` is Ark's usual one */
  envelopeFor(request: ReceivedRequest, envelope: Envelope): Envelope
}

/**
 * The members of a JSON body. An empty body counts as an empty object. Throws 400 `InvalidParameter` for any other
 * body.
 */
export const bodyMembers = ({ body, bytes }: ReceivedRequest): Member[] => {
  if (body.trim() === '') return []
  const members = isUtf8(bytes) ? membersOf(body) : undefined
  if (members === undefined) throw new ArkError(400, 'InvalidParameter', 'The body must be a JSON object in UTF-8.')
  return members
}

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
