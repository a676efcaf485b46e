/** Options of the emulated face verification. */
export interface FaceOptions {
  /**
   * lifetime of a session and its link in ms, above 0; default 30 minutes. Measured with the clock of `library`,
   * including `advance`
   */
  readonly faceSessionMs?: number
  /** `ark`: response before the check succeeds: an empty GroupId (default), or a 404 error. Both occur in practice */
  readonly facePending?: 'empty' | 'error'
  /**
   * whether ListAssetGroups includes LivenessFace groups; default true. The real API may leave them out. All other
   * actions include them
   */
  readonly faceGroupsListed?: boolean
  /** `rest`: ms from the callback to the result, half of it in `callback_received`, half in `resolving`; default 0 */
  readonly faceResolvingMs?: number
  /**
   * `ark`: whether the two actions wrap their results in the envelope (default) or return them bare. Both occur in
   * practice
   */
  readonly faceEnvelope?: 'wrapped' | 'flat'
  /** `lng` parameter of the H5 links; default empty: the browser's Accept-Language decides */
  readonly faceLanguage?: 'zh' | 'en' | 'zh-Hant' | ''
  /** base URL of the H5 links; default empty: the emulator's `origin`. A phone needs a URL that it can reach */
  readonly faceUrl?: string
}

/** The face verification options with all defaults applied. */
export type FaceSettings = Required<FaceOptions>

export const faceDefaults: FaceSettings = {
  faceSessionMs: 30 * 60_000,
  facePending: 'empty',
  faceGroupsListed: true,
  faceResolvingMs: 0,
  faceEnvelope: 'wrapped',
  faceLanguage: '',
  faceUrl: '',
}

/** Throws a `RangeError` or `TypeError` for an invalid option. */
export const checkFace = ({ faceSessionMs, faceResolvingMs, faceUrl }: FaceSettings): void => {
  // upper bound: the expiry must be a valid date
  if (!(faceSessionMs > 0 && faceSessionMs <= 1e12)) throw new RangeError('faceSessionMs must be a number above 0')
  if (!(faceResolvingMs >= 0)) throw new RangeError('faceResolvingMs must be a number from 0')
  if (faceUrl !== '' && !isBrowsable(faceUrl)) throw new TypeError('faceUrl must be an absolute http or https address')
}

/** Whether a browser can open a URL: it is absolute, http or https. */
export const isBrowsable = (address: string): boolean =>
  /^https?:\/\/[^\s/]\S*$/i.test(address) && URL.canParse(address)
