/** The identity provider did not answer, not in time, or with more than is read. */
export class ProviderUnreachableError extends Error {
  override readonly name = 'ProviderUnreachableError'
}

/** The identity provider has answered that it logs nobody in, for example because the person has cancelled. */
export class ProviderDeniedError extends Error {
  override readonly name = 'ProviderDeniedError'
}

/** An answer of the identity provider, or a callback, is not valid. */
export class ProviderInvalidError extends Error {
  override readonly name = 'ProviderInvalidError'
}

const maxMessageLength = 500

/**
 * The messages of an error and of its causes, for the log. Their other members are left out: those of `openid-client`
 * hold codes, tokens and claims.
 */
export const errorText = (error: unknown): string => {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 5; cause = cause.cause)
    messages.push(cause.message, ...reasonsOf(cause))
  return messages.join(': ').slice(0, maxMessageLength)
}

/** The members of an error response (RFC 6749 sections 4.1.2.1 and 5.2). */
const reasonsOf = (error: Error & { readonly error?: unknown; readonly error_description?: unknown }): string[] =>
  [error.error, error.error_description].filter((text) => typeof text === 'string')

/** Whether an error or one of its causes is a `ProviderUnreachableError`. */
export const isUnreachable = (error: unknown): boolean => {
  let depth = 0
  for (let cause = error; cause instanceof Error && depth < 5; cause = cause.cause, depth++)
    if (cause instanceof ProviderUnreachableError) return true
  return false
}
