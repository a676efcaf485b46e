/** How face verification behaves. */
export interface FaceOptions {
  /** life of a session and its link in ms, above 0; default 30 minutes. The time of `library` counts, `advance` included */
  readonly faceSessionMs?: number
  /** what ark says of a session whose person has not succeeded: an empty GroupId (default), or an error with 404. Both were seen */
  readonly facePending?: 'empty' | 'error'
  /** whether ListAssetGroups shows LivenessFace groups; default true. Somebody found that it does not; all else shows them either way */
  readonly faceGroupsListed?: boolean
  /** rest: ms from the callback to the result, the first half callback_received, the second resolving; default 0 */
  readonly faceResolvingMs?: number
  /** ark: whether the two actions wrap their answers like all others (default) or give the bare result. Both were seen */
  readonly faceEnvelope?: 'wrapped' | 'flat'
  /** `lng` of the H5 links; default empty, which leaves the language to the browser */
  readonly faceLanguage?: 'zh' | 'en' | 'zh-Hant' | ''
  /** where browsers reach the emulator, for H5 links; default empty, which is its `origin`. A phone needs another one */
  readonly faceUrl?: string
}

export type FaceSettings = Required<FaceOptions>

export const FACE_DEFAULTS: FaceSettings = {
  faceSessionMs: 30 * 60_000,
  facePending: 'empty',
  faceGroupsListed: true,
  faceResolvingMs: 0,
  faceEnvelope: 'wrapped',
  faceLanguage: '',
  faceUrl: '',
}

/** Refuses options that make no sense. */
export function checkFace({ faceSessionMs, faceResolvingMs, faceUrl }: FaceSettings): void {
  // it is written into answers, as a time
  if (!(faceSessionMs > 0 && faceSessionMs <= 1e12)) throw new RangeError('faceSessionMs must be a number above 0')
  if (!(faceResolvingMs >= 0)) throw new RangeError('faceResolvingMs must be a number from 0')
  if (faceUrl !== '' && !isBrowsable(faceUrl)) throw new TypeError('faceUrl must be an absolute http or https address')
}

/** Whether a browser can be sent to an address: absolute, http or https. */
export function isBrowsable(address: string): boolean {
  return /^https?:\/\/[^\s/]\S*$/i.test(address) && URL.canParse(address)
}
