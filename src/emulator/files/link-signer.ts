import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Reply } from '../faults/faulty-reply.ts'
import { sha256 } from '../shared/hash.ts'
import { basicIsoTime } from '../shared/times.ts'
import { linkTime, storeError } from './file-reply.ts'

/** Signs the links of the object store, and checks them. */
export interface LinkSigner {
  /** A name of a file that nobody can guess */
  fileName(text: string): string
  /** The query of a signed link. `date` is its time, in ms since 1970; it is valid for `seconds` */
  query(path: string, date: number, seconds: number): string
  /** The reply to a request whose signature is wrong or expired. Undefined: it is valid */
  refusal(path: string, query: URLSearchParams): Reply | undefined
}

/** The credentials that sign links. */
export interface LinkCredentials {
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
}

export const createLinkSigner = ({ accessKey, secretKey, region }: LinkCredentials, now: () => number): LinkSigner => {
  const signatureOf = (path: string, date: string, seconds: string): string =>
    createHmac('sha256', secretKey).update(`${date}\n${seconds}\n${path}`).digest('hex')

  return {
    fileName: (text) => sha256(`${secretKey} ${text}`).slice(0, 40),
    query(path, time, seconds) {
      const date = basicIsoTime(time)
      const scope = encodeURIComponent(`${accessKey}/${date.slice(0, 8)}/${region}/tos/request`)
      const signed = `X-Tos-Algorithm=TOS4-HMAC-SHA256&X-Tos-Credential=${scope}&X-Tos-Date=${date}&X-Tos-Expires=${seconds}`
      return `${signed}&X-Tos-Signature=${signatureOf(path, date, String(seconds))}&X-Tos-SignedHeaders=host`
    },
    refusal(path, query) {
      const [date = '', seconds = '', signature = ''] = ['Date', 'Expires', 'Signature'].map(
        (name) => query.get(`X-Tos-${name}`) ?? '',
      )
      const expected = Buffer.from(signatureOf(path, date, seconds))
      const given = Buffer.from(signature)
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        return storeError(403, 'SignatureDoesNotMatch', 'The request signature does not match.')
      if (now() >= linkTime(date) + Number(seconds) * 1000)
        return storeError(403, 'AccessDenied', 'Request has expired.')
      return undefined
    },
  }
}
