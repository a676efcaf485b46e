import { createHmac } from 'node:crypto'
import type { Settings } from '../options.ts'

/** Path prefix of the pages for browsers. The emulator does not record requests to them, and no fault applies. */
export const h5Path = '/h5/'

/** Path of the check page. */
export const h5Check = `${h5Path}liveness-face`

/** Path prefix of the callback page of the `rest` API, which receives the result itself. */
export const h5Callback = `${h5Path}callback/`

/** The link to a check page, without the origin. */
export interface Link {
  readonly bytedToken: string
  /** path and query; the query holds temporary credentials, as in the vendor's links */
  readonly path: string
}

/** The link of the nth session. Its credentials options random and are valid for the emulator's own page only. */
export const createLink = (n: number, now: number, { secretKey, faceLanguage }: Settings): Link => {
  const secret = (label: string) => createHmac('sha256', secretKey).update(`${label}\n${n}\n${now}`).digest()
  const bytedToken = secret('token').toString('base64url')
  const query = new URLSearchParams({
    accessKeyId: `AKTP${secret('access').toString('base64url')}`,
    // base64 has characters that a query must escape, as real secrets do
    secretAccessKey: secret('secret').toString('base64'),
    sessionToken: `STS2${Buffer.concat([secret('session'), secret('policy')]).toString('base64')}`,
    configId: secret('config').toString('hex').slice(0, 24),
    bytedToken,
    lng: faceLanguage,
  })
  return { bytedToken, path: `${h5Check}?${query}` }
}

/** Whether a query has every parameter of the link exactly once. The browser may change `lng`. */
export const linkMatches = (query: URLSearchParams, link: Link): boolean => {
  const wanted = new URLSearchParams(link.path.slice(h5Check.length))
  wanted.delete('lng')
  return [...wanted].every(([name, value]) => {
    const [given, ...more] = query.getAll(name)
    return given === value && more.length === 0
  })
}

/** The URL to which the browser is redirected after the check. The query of the callback URL comes first. */
export const callbackOf = (callbackUrl: string, bytedToken: string, good: boolean): string => {
  const result = new URLSearchParams({
    bytedToken,
    resultCode: good ? '10000' : '20001',
    algorithmBaseRespCode: '0',
    reqMeasureInfoValue: '1',
    verify_type: 'real_time',
  })
  const url = new URL(callbackUrl)
  url.search = [url.search.slice(1), String(result)].filter(Boolean).join('&')
  return url.href
}
