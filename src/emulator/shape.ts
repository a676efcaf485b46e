import type { Ask } from './account.ts'
import type { Envelope } from './envelope.ts'
import { type Member, membersOf } from './members.ts'
import { Refusal } from './refusal.ts'

/** A request, fully received. */
export interface Received {
  readonly method: string
  /** raw path and query */
  readonly target: string
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  readonly body: string
}

/** A way of asking the same account. */
export interface Shape {
  readonly kind: 'rest' | 'ark'
  /** the name of the action that a request means, entitled or not; empty when it means none */
  actionOf(request: Received): string
  /** what the request asks; throws a `Refusal` when it may not or makes no sense */
  askOf(request: Received): Ask
  /** the envelope of the answer, entitled or not, where it is another than Ark's usual one */
  wrapped(request: Received, envelope: Envelope): Envelope
}

/** The members of a JSON body; an empty body is an empty object. */
export function bodyMembers({ body, bytes }: Received): Member[] {
  if (body.trim() === '') return []
  const members = isUtf8(bytes) ? membersOf(body) : undefined
  if (members === undefined) throw new Refusal(400, 'InvalidParameter', 'The body must be a JSON object in UTF-8.')
  return members
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
