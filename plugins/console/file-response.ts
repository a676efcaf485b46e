import type { File } from './files.ts'

/**
 * The response to a request for a file, in the best form that the client accepts.
 *
 * A browser caches every file. It asks again for one that can change under its name (`no-cache`, RFC 9111 section
 * 5.2.2.4), and not for one that cannot (`immutable`, RFC 8246).
 */
export const fileResponse = (
  file: File,
  { headers, method }: Request,
  securityHeaders: Readonly<Record<string, string>>,
): Response => {
  const accepted = headers.get('accept-encoding') ?? ''
  const coding = file.codings.find(({ name }) => accepts(accepted, name))
  const { content, etag } = coding ?? file
  const cacheHeaders = {
    ...securityHeaders,
    etag,
    vary: 'accept-encoding',
    'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
  if (matches(headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: cacheHeaders })
  const contentHeaders = { ...cacheHeaders, 'content-type': file.type }
  return new Response(method === 'HEAD' ? null : content, {
    headers: coding ? { ...contentHeaders, 'content-encoding': coding.name } : contentHeaders,
  })
}

/** Whether an `Accept-Encoding` header names the coding, and not with a weight of 0 (RFC 9110 section 12.5.3). */
const accepts = (header: string, coding: string): boolean =>
  header.split(',').some((one) => {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })

/** Whether an `If-None-Match` header matches the entity tag (RFC 9110 section 13.1.2). */
const matches = (ifNoneMatch: string | null, etag: string): boolean =>
  ifNoneMatch?.trim() === '*' || (ifNoneMatch ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
