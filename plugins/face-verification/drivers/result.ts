import type { Json } from '../../shared/json/json.ts'
import { createCredentialSearch } from '../../shared/upstream/credentials.ts'
import { UpstreamInvalidError, UpstreamRejectedError, type UpstreamResponse } from '../../upstream-proxy/index.ts'
import { readGroup, resultOf } from './task-body.ts'

/** A verification session that the upstream has created. */
export interface ValidateSession {
  /** `BytedToken`, which identifies the session to the upstream. A secret. */
  readonly token: string
  /** `H5Link`, which the person opens. It contains temporary credentials and is a secret too. */
  readonly link: string
  /** Milliseconds since 1970; undefined when the response contains no expiry. */
  readonly expiresAt: number | undefined
}

const maxSecretLength = 8_192

/** Reads the response to CreateVisualValidateSession. Throws UpstreamInvalidError when it contains no session. */
export const readValidateSession = (response: UpstreamResponse, now: number): ValidateSession => {
  const result = resultOf(response)
  const token = result.get('BytedToken')?.string() ?? ''
  const link = result.get('H5Link')?.string() ?? ''
  if (!isStorable(token) || !isStorable(link) || !/^https?:\/\//i.test(link)) {
    throw new UpstreamInvalidError('a session without a usable BytedToken and H5Link')
  }
  return { token, link, expiresAt: readExpiry(result, now) }
}

/** Whether a database stores the text unchanged. */
const isStorable = (text: string): boolean =>
  text !== '' && text.length <= maxSecretLength && text.isWellFormed() && !/\p{Cc}/u.test(text)

/**
 * Reads the expiry of a session, in milliseconds since 1970. The vendor's pages name no field for it. So every usual
 * name counts: `…in` holds seconds from now; `…at` and `…time` hold a date, or seconds or milliseconds since 1970.
 */
const readExpiry = (result: Json, now: number): number | undefined => {
  for (const { key, value } of result.members()) {
    const [, suffix] = /^expires?_?(in|at|time)$/i.exec(key) ?? []
    if (suffix === undefined) continue
    const number = Number(value.string() ?? value.raw)
    const at = Number.isNaN(number) ? Date.parse(value.string() ?? '') : number * (number > 1e11 ? 1 : 1000)
    const expiry = suffix.toLowerCase() === 'in' ? now + number * 1000 : at
    if (Number.isFinite(expiry) && expiry > now) return Math.floor(expiry)
  }
  return undefined
}

/** The result of a session: its group, `none` while there is no result, or `gone` when there never will be one. */
export type ValidateResult = { readonly group: string } | 'none' | 'gone'

/**
 * Reads the response to GetVisualValidateResult. Before the person has finished, and after the expiry, the upstream
 * either names no group or responds 400 or 404. Rethrows every other error, because it says nothing about the session.
 */
export const readValidateResult = async (call: Promise<UpstreamResponse>): Promise<ValidateResult> => {
  try {
    const group = readGroup(resultOf(await call).get('GroupId'))
    return group === undefined ? 'none' : { group }
  } catch (error) {
    if (error instanceof UpstreamRejectedError && unknownSession.has(error.status)) return 'none'
    if (error instanceof UpstreamRejectedError && error.status === 410) return 'gone'
    throw error
  }
}

const unknownSession: ReadonlySet<number> = new Set([400, 404])

/**
 * Awaits an upstream call. Throws UpstreamInvalidError instead of the upstream's own error when that error contains one
 * of the secrets.
 */
export const withoutSecrets = async <Value>(
  call: Promise<Value>,
  secrets: readonly (string | undefined)[],
): Promise<Value> => {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof UpstreamRejectedError)) throw error
    const { headers, bytes } = error.response
    const containsSecret = createCredentialSearch(secrets)
    throw containsSecret(bytes, headers) ? new UpstreamInvalidError('an error that contains a secret') : error
  }
}
