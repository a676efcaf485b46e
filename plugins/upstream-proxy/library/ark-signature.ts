const encoder = new TextEncoder()

const hex = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString('hex')

const sha256 = async (text: string): Promise<string> => hex(await crypto.subtle.digest('SHA-256', encoder.encode(text)))

const hmac = async (key: Uint8Array<ArrayBuffer> | ArrayBuffer, text: string): Promise<ArrayBuffer> =>
  crypto.subtle.sign(
    'HMAC',
    await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']),
    encoder.encode(text),
  )

/** RFC 3986: also what `encodeURIComponent` leaves alone. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

export interface ArkCredentials {
  readonly accessKey: string
  readonly secretKey: string
  /** Region of the scope, for example `cn-beijing`. */
  readonly region: string
  /** Default `ark`. */
  readonly service?: string
}

export interface Signable {
  readonly method: string
  readonly host: string
  readonly query: Readonly<Record<string, string>>
  /** Lower-case names; all of them are signed, besides `host`. `x-date` must be among them, as `YYYYMMDDTHHMMSSZ`. */
  readonly headers: Readonly<Record<string, string>> & { readonly 'x-date': string }
  readonly body: string
}

/** `YYYYMMDDTHHMMSSZ` of a time in milliseconds since 1970. */
export const arkDate = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')

/** Hash of the canonical request (docs/6369/67269). Exported for the published vectors. */
export const canonicalHash = async (request: Signable, bodyHash: string): Promise<string> => {
  const headers: Record<string, string> = { ...request.headers, host: request.host }
  const names = Object.keys(headers).sort()
  const query = Object.keys(request.query)
    .sort()
    .map((name) => `${encode(name)}=${encode(request.query[name] ?? '')}`)
  return sha256(
    [
      request.method,
      '/',
      query.join('&'),
      ...names.map((name) => `${name}:${headers[name]?.trim()}`),
      '',
      names.join(';'),
      bodyHash,
    ].join('\n'),
  )
}

/** Hex SHA-256 of a body, the value of `x-content-sha256`. */
export const bodyHash = sha256

/** Volcengine signature version 4: the value of `Authorization`. Valid for about 15 minutes around `x-date`. */
export const arkAuthorization = async (request: Signable, credentials: ArkCredentials): Promise<string> => {
  const service = credentials.service ?? 'ark'
  const date = request.headers['x-date']
  const day = date.slice(0, 8)
  const scope = `${day}/${credentials.region}/${service}/request`
  const hash = await canonicalHash(request, request.headers['x-content-sha256'] ?? (await bodyHash(request.body)))
  let key = await hmac(encoder.encode(credentials.secretKey), day)
  for (const part of [credentials.region, service, 'request']) key = await hmac(key, part)
  const signature = hex(await hmac(key, `HMAC-SHA256\n${date}\n${scope}\n${hash}`))
  const signed = [...Object.keys(request.headers), 'host'].sort().join(';')
  return `HMAC-SHA256 Credential=${credentials.accessKey}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
}
