/** The database was unreachable, timed out, or rejected a statement. An operator may see the message; the driver's error is only in `cause`. */
export class StoreError extends Error {
  override name = 'StoreError'
}

/** A unique index rejected a row: another statement has inserted the same key first. */
export class UniqueViolationError extends StoreError {
  override name = 'UniqueViolationError'
  constructor(cause: unknown) {
    super('a record with the same key already exists in the database', { cause })
  }
}

/** Converts a driver's error to a StoreError. `isUniqueViolation` recognizes the driver's error code for a unique index. */
export const storeError = (cause: unknown, isUniqueViolation: (code: unknown) => boolean): StoreError => {
  if (cause instanceof StoreError) return cause
  const { code, errcode } = (typeof cause === 'object' && cause !== null ? cause : {}) as Record<string, unknown>
  return isUniqueViolation(errcode ?? code)
    ? new UniqueViolationError(cause)
    : new StoreError('the database request failed', { cause })
}
