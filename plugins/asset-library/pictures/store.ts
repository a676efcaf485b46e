/** The creation of the asset of a picture. Times are milliseconds since 1970. */
export interface PictureRecord {
  readonly user: string
  /** SHA-256 of the bytes of the picture, in hexadecimal digits. */
  readonly digest: string
  /** The group of the asset. */
  readonly group: string
  /** Undefined: the call that makes it goes on, or its response was lost. */
  readonly asset?: string
  /** It tells a record from later ones of the same picture. */
  readonly claimedAt: number
  /** Until then the call may go on. */
  readonly leaseUntil: number
}

/** Store port: which pictures of users are assets, so that each becomes one only once. */
export interface PictureStore {
  picture(user: string, digest: string): Promise<PictureRecord | undefined>
  /** Adds a record, before the asset is made. False: there is one of this picture. */
  claimPicture(claim: PictureRecord): Promise<boolean>
  /** Records the asset. False: there is no such record without an asset. */
  confirmPicture(claim: PictureRecord, asset: string): Promise<boolean>
  /** Removes a record, if it is still the one of its picture: with that asset, or without one. */
  forgetPicture(record: PictureRecord): Promise<void>
}
