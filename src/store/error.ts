/** The database could not be asked, or refused. The message may be shown to an operator; what the driver said is in `cause` only. */
export class StoreError extends Error {
  override name = 'StoreError'
}

/** A unique index refused a row: somebody else was first. */
export class UniqueViolationError extends StoreError {
  override name = 'Taken'
  constructor(cause: unknown) {
    super('the database has such a record already', { cause })
  }
}

/** What a driver threw, as a StoreError. `isTaken` says whether it is the refusal of a unique index. */
export const storeError = (cause: unknown, isTaken: (code: unknown) => boolean): StoreError => {
  if (cause instanceof StoreError) return cause
  const { code, errcode } = (typeof cause === 'object' && cause !== null ? cause : {}) as Record<string, unknown>
  return isTaken(errcode ?? code)
    ? new UniqueViolationError(cause)
    : new StoreError('the database could not be asked', { cause })
}
