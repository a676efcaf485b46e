import { createHmac } from 'node:crypto'
import type { Settings } from '../settings.ts'
import { H5_CHECK } from './paths.ts'

/** What opens the check, but for the origin. */
export interface Link {
  readonly bytedToken: string
  /** path and query: holds temporary credentials, as the vendor's links do */
  readonly path: string
}

/** The link of the nth session: looks random, opens nothing but the emulator's own page. */
export function createLink(n: number, now: number, { secretKey, faceLanguage }: Settings): Link {
  const secret = (label: string) => createHmac('sha256', secretKey).update(`${label}\n${n}\n${now}`).digest()
  const bytedToken = secret('token').toString('base64url')
  const query = new URLSearchParams({
    accessKeyId: `AKTP${secret('access').toString('base64url')}`,
    // with the signs that a query has to escape, as real ones have
    secretAccessKey: secret('secret').toString('base64'),
    sessionToken: `STS2${Buffer.concat([secret('session'), secret('policy')]).toString('base64')}`,
    configId: secret('config').toString('hex').slice(0, 24),
    bytedToken,
    lng: faceLanguage,
  })
  return { bytedToken, path: `${H5_CHECK}?${query}` }
}

/** Whether a query has all that a link has, each once; the language is the browser's own affair. */
export function opens(query: URLSearchParams, link: Link): boolean {
  const wanted = new URLSearchParams(link.path.slice(H5_CHECK.length))
  wanted.delete('lng')
  return [...wanted].every(([name, value]) => {
    const [given, ...more] = query.getAll(name)
    return given === value && more.length === 0
  })
}

/** Where a person's browser goes when the check is over. What the address already asked for stays in front. */
export function callbackOf(callbackUrl: string, bytedToken: string, good: boolean): string {
  const word = new URLSearchParams({
    bytedToken,
    resultCode: good ? '10000' : '20001',
    algorithmBaseRespCode: '0',
    reqMeasureInfoValue: '1',
    verify_type: 'real_time',
  })
  const url = new URL(callbackUrl)
  url.search = [url.search.slice(1), String(word)].filter(Boolean).join('&')
  return url.href
}
