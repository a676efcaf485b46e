/** The actions of the audit trail. */
export const auditActions = [
  'session.login',
  'session.fail',
  'session.lockout',
  'session.logout',
  'token.create',
  'token.update',
  'token.rotate',
  'token.revoke',
  'token.expire',
  'user.create',
  'user.update',
  'user.invite',
  'user.logout',
  'user.disable',
  'user.enable',
  'user.password',
  'team.create',
  'team.update',
  'team.delete',
  'group.create',
  'group.update',
  'group.delete',
  'group.adopt',
  'group.release',
  'share.create',
  'share.revoke',
  'share.return',
  'asset.create',
  'asset.update',
  'asset.delete',
  'asset_batch.create',
  'asset_batch.cancel',
  'asset_batch.retry',
  'account.first',
  'verification.create',
  'consent.withdraw',
  'consent.delete',
  'consent.export',
  'consent.link',
  'upload.create',
  'webhook.create',
  'webhook.delete',
  'webhook.disable',
  'response.cancel',
  'response.delete',
  'video.cancel',
  'video.delete',
  'video.adopt',
  'video.release',
  'admin.read',
  'access.refuse',
  'limit.reach',
  'audit.lose',
] as const

/** Name of an action in the audit trail. */
export type AuditAction = (typeof auditActions)[number]

/** An event for the audit trail. It contains ids and fixed words, and never a secret. */
export interface AuditEvent {
  readonly action: AuditAction
  /** Id of the user. Needed only if the request has no identity (see `identityOf`). */
  readonly user?: string
  /**
   * User name that an unauthenticated caller has sent. Stored only if the user exists: otherwise it may be a password
   * in the wrong field.
   */
  readonly name?: string
  /** Id of the token that the caller used. Needed only if the request has no identity. */
  readonly token?: string
  /** Kind and id of the object that the action affects. */
  readonly target?: { readonly kind: string; readonly id?: string }
  /** HTTP status, for a rejected request. */
  readonly status?: number
  readonly reason?: string
  /** Names of the fields that were set or changed. */
  readonly fields?: readonly string[]
}

/** The audit trail, as plugins use it: who did what, when, and from where. */
export interface Audit {
  /**
   * Writes the event soon, without making the caller wait. Repeated events that any caller can cause are counted after
   * the first few.
   */
  note(event: AuditEvent, request?: Request): void
  /**
   * Resolves when the event is written. For rare actions that must not succeed without an entry. Rejects with Problem
   * 500 when the write fails.
   */
  record(event: AuditEvent, request?: Request): Promise<void>
}

/** An audit trail that discards all events: the default of every `audit` option. */
export const noAudit: Audit = { note() {}, async record() {} }

/** The event for a request that used the id of an object that does not exist or belongs to another user. */
export const accessDenied = (kind: string, id?: string): AuditEvent => ({
  action: 'access.refuse',
  target: { kind, id },
})
