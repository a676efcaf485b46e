/** A use of a credential, for the times that people and operators are shown. */
export interface CredentialUse {
  readonly user: string
  /** Id of the token. Undefined: a session. */
  readonly token?: string | undefined
  /** Milliseconds since 1970. */
  readonly at: number
}

/** How often a plugin notes the use of one credential. Milliseconds. */
export const useNotedEveryMs = 60_000
