/** A picture of which an asset is to be made. */
export interface NewPicture {
  /** Id of the user, who will own the asset. */
  readonly user: string
  /** Id of the token: its limits apply. */
  readonly token?: string | undefined
  /** The account of the asset library for the asset. Undefined: the first, or the only one. */
  readonly account?: string | undefined
  /** An http or https address, or a `data:` URL. */
  readonly url: string
  readonly signal?: AbortSignal | undefined
}

/**
 * What has become of a picture.
 *
 * - `busy`: another call makes its asset, or the outcome of such a call is not known yet. Ask again later.
 * - `processing`: the upstream reads it.
 * - `active`: the asset can be used.
 * - `failed`: the upstream does not take it. The code and the message are the upstream's.
 */
export type PictureAsset =
  | { readonly state: 'busy' }
  | { readonly state: 'processing' | 'active'; readonly asset: string }
  | { readonly state: 'failed'; readonly code: string; readonly message: string }

/**
 * Makes assets of pictures, in a group of their user: the part of an asset library that plugins need whose callers have
 * pictures.
 *
 * Both methods reject as stores and upstreams do. A Problem with a status below 500 is final for this picture: for
 * example a limit of the user is reached.
 */
export interface PictureAssets {
  /** Whether it takes `data:` URLs. Else it takes addresses only. */
  readonly takesFiles: boolean
  /**
   * The asset of a picture: one for the same bytes of the same user on an account, however often and wherever it is
   * called.
   */
  register(picture: NewPicture): Promise<PictureAsset>
  /** The state of an asset that `register` has returned. `busy`: it is gone, and its picture needs another one. */
  stateOf(user: string, asset: string): Promise<PictureAsset>
}
