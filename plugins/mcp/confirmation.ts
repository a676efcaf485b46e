import { createHash } from 'node:crypto'
import { createTextSigner } from '../shared/identity/signed-text.ts'
import { membersOf } from '../shared/json/parsed.ts'

/** Texts that prove that a caller was told the price of a request. All processes with the same secrets know them. */
export interface Confirmations {
  /** @param cost in currency units; null: the price is not known */
  issue(request: ConfirmedRequest, cost: number | null): string
  /** Whether a text was issued for this request, has not expired, and named this price or a higher one. */
  isValid(confirmation: string, request: ConfirmedRequest, cost: number | null): boolean
}

/** A request whose price was said. */
export interface ConfirmedRequest {
  readonly user: string
  /** The whole request. Another one needs another confirmation. */
  readonly body: string
  readonly now: number
}

/** Creates the confirmations of a server. @param lifetimeMs how long one is valid */
export const createConfirmations = (secrets: readonly string[], lifetimeMs: number): Confirmations => {
  const signer = createTextSigner(secrets)
  const bindingOf = ({ user, body }: ConfirmedRequest) =>
    `mcp confirmation\n${createHash('sha256').update(body).digest('base64url')}\n${user}`
  return {
    issue: (request, cost) =>
      signer.sign(JSON.stringify({ cost, until: request.now + lifetimeMs }), bindingOf(request)),
    isValid(confirmation, request, cost) {
      if (confirmation.length > maxConfirmationLength) return false
      const text = signer.verify(confirmation, bindingOf(request))
      if (text === undefined) return false
      const { cost: said, until } = membersOf(JSON.parse(text))
      if (typeof until !== 'number' || request.now >= until) return false
      return typeof said === 'number' ? cost !== null && cost <= said : cost === null
    },
  }
}

/** Characters of a confirmation that a caller sends. */
export const maxConfirmationLength = 512
