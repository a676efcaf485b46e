/** A file that will be in the storage. */
export interface NewFile {
  readonly key: string
  /** Id of the owner. */
  readonly user: string
  readonly kind: FileKind
  /** The maximum length until `commitFile` says the length. */
  readonly bytes: number
  /** Milliseconds since 1970, like all times here. */
  readonly createdAt: number
  /** When the file is removed, unless it is committed before. */
  readonly expiresAt: number
}

/** `upload`: a file of a user, which counts for the quota. `result`: a generated one. */
export type FileKind = 'upload' | 'result'

/** What the uploads of one user may be at most. */
export interface FileQuota {
  readonly maxFiles: number
  readonly maxBytes: number
}

/** A quota is used up until `until`, when the user's next file expires. */
export interface QuotaReached {
  readonly reached: keyof FileQuota
  readonly until: number
}

/**
 * The store port of `fileStorage`: each file in the storage has a record, which is written before the file and removed
 * after it.
 */
export interface FileStore {
  /**
   * Adds a record, unless the user's records of that kind that have not expired would exceed the quota. Atomic over all
   * processes. A record with the same key is replaced.
   */
  reserveFile(file: NewFile, quota?: FileQuota): Promise<QuotaReached | undefined>
  /** Records the length of a complete file, and when it expires. False: the record has been removed meanwhile. */
  commitFile(key: string, bytes: number, expiresAt: number): Promise<boolean>
  /** Lets files expire at a time, unless they do so earlier. */
  expireFiles(keys: readonly string[], at: number): Promise<void>
  /**
   * The keys of at most `max` expired files, for the caller to remove. Other calls do not return them before `retryAt`.
   */
  claimExpiredFiles(now: number, retryAt: number, max: number): Promise<readonly string[]>
  /**
   * The keys of at most `max` expired files, without a write: the sweep removes them while the database has no room.
   * Optional: without it, they are removed when there is room.
   */
  expiredFiles?(now: number, max: number): Promise<readonly string[]>
  /**
   * The owner of a file. Undefined: it has no record. Optional: without it, `maxDownloads` applies to each file instead
   * of each user.
   */
  fileOwner?(key: string): Promise<string | undefined>
  /** Removes records, whose files have been removed. */
  removeFileRecords(keys: readonly string[]): Promise<void>
}
