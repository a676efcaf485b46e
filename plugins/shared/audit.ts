/** What the audit trail may say that happened. */
export const auditActions = [
  'session.login',
  'session.fail',
  'session.lockout',
  'session.logout',
  'token.create',
  'token.revoke',
  'token.expire',
  'user.create',
  'user.disable',
  'user.enable',
  'user.password',
  'group.create',
  'group.update',
  'group.delete',
  'group.adopt',
  'group.release',
  'asset.create',
  'asset.update',
  'asset.delete',
  'verification.create',
  'response.cancel',
  'response.delete',
  'access.refuse',
  'limit.reach',
  'audit.lose',
] as const

export type AuditAction = (typeof auditActions)[number]

/** Something that happened. Never holds a secret: ids, and words of the gateway's own. */
export interface AuditEvent {
  readonly action: AuditAction
  /** Id of the user whose doing it was, where the request does not say: see `identityOf`. */
  readonly user?: string
  /** What somebody unknown is called by their own account. Kept only if there is such a user: else it may be a password in the wrong field. */
  readonly name?: string
  /** Id of the token that was used, where the request does not say. */
  readonly token?: string
  /** What it was done to: its kind, and its id where there is one. */
  readonly target?: { readonly kind: string; readonly id?: string }
  /** Status of the answer, of what was refused. */
  readonly status?: number
  readonly reason?: string
}

/** Where plugins report what has to be found out later: who did what, when, and from where. */
export interface Audit {
  /** Keeps it soon; nobody waits. What an attacker can repeat at will is counted instead, after a few. */
  note(event: AuditEvent, request?: Request): void
  /** Resolves when it is kept. For what is rare and must not happen without a trace. Throws Problem 500 when it cannot be kept. */
  record(event: AuditEvent, request?: Request): Promise<void>
}

/** Default of every `audit` option. */
export const noAudit: Audit = { note() {}, async record() {} }

/** What the trail says of a refusal: of what kind that was which is not the caller's, or is not at all. */
export const refused = (kind: string, id?: string): AuditEvent => ({ action: 'access.refuse', target: { kind, id } })
