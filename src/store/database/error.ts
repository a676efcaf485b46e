/**
 * The database was unreachable, timed out, or rejected a statement. An operator may see the message; the driver's error
 * is only in `cause`.
 */
export class StoreError extends Error {
  override name = 'StoreError'
}

/** The disk or the quota of the database is full. */
export class DatabaseFullError extends StoreError {
  override name = 'DatabaseFullError'
  /** The code that `hasNoSpace` of `plugins/shared` looks for. */
  readonly code = 'ENOSPC'
  constructor(cause: unknown) {
    super('the database has no room', { cause })
  }
}

/** The database has no connection, memory or time left for the request, which was not started, or rolled back. */
export class DatabaseBusyError extends StoreError {
  override name = 'DatabaseBusyError'
  /** The code that `retrySecondsOf` of `plugins/shared` looks for. */
  readonly code = 'EAGAIN'
  constructor(cause: unknown) {
    super('the database has too many connections or requests, or is too slow for them', { cause })
  }
}

/** Another process holds the lock of `exclusively` for long, as one does that migrates a large database. */
export class DatabaseLockedError extends StoreError {
  override name = 'DatabaseLockedError'
  /** The code that `retrySecondsOf` of `plugins/shared` looks for. */
  readonly code = 'EAGAIN'
}

/** A unique index rejected a row: another statement has inserted the same key first. */
export class UniqueViolationError extends StoreError {
  override name = 'UniqueViolationError'
  constructor(cause: unknown) {
    super('a record with the same key already exists in the database', { cause })
  }
}

/**
 * The database does not accept a value, for example because it is too long: every attempt would fail, and nothing was
 * written.
 */
export class RejectedValueError extends StoreError {
  override name = 'RejectedValueError'
}

/** A value that one of the databases would not store unchanged. */
export class UnstorableValueError extends TypeError {
  override name = 'UnstorableValueError'
}

/** Whether a transaction has failed for one of its rows, so that it would succeed without that one. */
export const isOfOneRow = (error: unknown): boolean =>
  error instanceof RejectedValueError || error instanceof UniqueViolationError || error instanceof UnstorableValueError

/** What a driver's error codes mean. */
export interface ErrorCodes {
  /** Of a unique index. */
  readonly uniqueViolation: readonly unknown[]
  /** Of a full disk. */
  readonly full: readonly unknown[]
  /** Of resources that others use at the moment, such as connections. */
  readonly busy: readonly unknown[]
  /** Whether a code is that of a value that the database does not accept. */
  readonly isRejectedValue: (code: unknown) => boolean
}

/** Converts a driver's error to a StoreError. */
export const storeError = (
  cause: unknown,
  { uniqueViolation, full, busy, isRejectedValue }: ErrorCodes,
): StoreError => {
  if (cause instanceof StoreError) return cause
  const { code, errcode } = (typeof cause === 'object' && cause !== null ? cause : {}) as Record<string, unknown>
  if (uniqueViolation.includes(errcode ?? code)) return new UniqueViolationError(cause)
  if (full.includes(errcode ?? code)) return new DatabaseFullError(cause)
  if (busy.includes(errcode ?? code)) return new DatabaseBusyError(cause)
  return cause instanceof UnstorableValueError || isRejectedValue(errcode ?? code)
    ? new RejectedValueError('the database does not accept a value', { cause })
    : new StoreError('the database request failed', { cause })
}
