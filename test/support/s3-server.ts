import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An S3 server with one bucket: signatures of version 4, and the rules of multipart uploads. Path style. */
export interface S3Server extends AsyncDisposable {
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  readonly objects: ReadonlyMap<string, StoredObject>
  /** Open multipart uploads by id. */
  readonly uploads: ReadonlyMap<string, OpenUpload>
  /** Method and operation of each request. */
  readonly calls: readonly string[]
  /**
   * Called with each request before its response; returns a status to fail with, or `reset`, or `truncate`: half of the
   * body, or `hang`: no response.
   */
  fault: (call: string) => number | 'reset' | 'truncate' | 'hang' | undefined
}

export interface StoredObject {
  readonly bytes: Buffer
  readonly type: string
  readonly etag: string
  readonly modifiedAt: number
}

export interface OpenUpload {
  readonly key: string
  readonly type: string
  readonly startedAt: number
  readonly parts: Map<number, { readonly bytes: Buffer; readonly etag: string }>
}

const minPartBytes = 5 * 2 ** 20
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

class S3Error extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

export const startS3Server = async (): Promise<S3Server> => {
  const settings = { bucket: 'the-bucket', accessKey: 'AKTEST123456', secretKey: 'a-secret-key', region: 'cn-test' }
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, OpenUpload>()
  const calls: string[] = []

  /** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
  const checkSignature = (request: IncomingMessage, url: URL, body: Buffer) => {
    const {
      authorization = '',
      'x-amz-date': date = '',
      'x-amz-content-sha256': hash = '',
    } = request.headers as Record<string, string>
    const [, scope = '', names = '', signature = ''] =
      /^AWS4-HMAC-SHA256 Credential=AKTEST123456\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
        authorization,
      ) ?? []
    if (scope !== `${date.slice(0, 8)}/${settings.region}/s3/aws4_request`) throw new S3Error(403, 'InvalidAccessKeyId')
    const sentAt = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
    if (Math.abs(Date.now() - sentAt) > 900_000) throw new S3Error(403, 'RequestTimeTooSkewed')
    if (hash !== 'UNSIGNED-PAYLOAD' && hash !== sha256(body)) throw new S3Error(400, 'XAmzContentSHA256Mismatch')
    const signed = names.split(';')
    for (const name of ['host', 'x-amz-date', 'x-amz-content-sha256'])
      if (!signed.includes(name)) throw new S3Error(403, 'SignatureDoesNotMatch')
    const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort()
    const headers = signed.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}\n`).join('')
    const canonical = [request.method, url.pathname, query.join('&'), headers, names, hash].join('\n')
    const key = scope
      .split('/')
      .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${settings.secretKey}`)
    const expected = hmac(key as Buffer, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString(
      'hex',
    )
    if (signature !== expected) throw new S3Error(403, 'SignatureDoesNotMatch')
  }

  const handle = (call: string, request: IncomingMessage, url: URL, body: Buffer, response: ServerResponse) => {
    const key = decodeURIComponent(url.pathname.slice(settings.bucket.length + 2))
    const { searchParams: query } = url
    const xml = (text: string) => response.writeHead(200, { 'content-type': 'application/xml' }).end(text)
    const upload = () => {
      const found = uploads.get(query.get('uploadId') ?? '')
      if (found?.key !== key) throw new S3Error(404, 'NoSuchUpload')
      return found
    }
    const store = (bytes: Buffer, type: string, etag: string) =>
      objects.set(key, { bytes, type, etag: `"${etag}"`, modifiedAt: Date.now() })
    const type = request.headers['content-type'] ?? 'binary/octet-stream'

    if (call === 'PutObject') {
      if (request.headers['content-length'] === undefined) throw new S3Error(411, 'MissingContentLength')
      store(body, type, md5(body))
      return response.writeHead(200, { etag: `"${md5(body)}"` }).end()
    }
    if (call === 'CreateMultipartUpload') {
      const id = randomBytes(12).toString('base64url')
      uploads.set(id, { key, type, startedAt: Date.now(), parts: new Map() })
      return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    }
    if (call === 'UploadPart') {
      const number = Number(query.get('partNumber'))
      if (!(number >= 1 && number <= 10_000)) throw new S3Error(400, 'InvalidArgument')
      upload().parts.set(number, { bytes: body, etag: `"${md5(body)}"` })
      return response.writeHead(200, { etag: `"${md5(body)}"` }).end()
    }
    if (call === 'CompleteMultipartUpload') {
      const { parts, type: ownType } = upload()
      const named = [...String(body).matchAll(/<Part>([\s\S]*?)<\/Part>/g)].map(([, part = '']) => ({
        number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
        etag: /<ETag>(.*?)</.exec(part)?.[1]?.replaceAll('&quot;', '"'),
      }))
      const bytes = named.map(({ number, etag }, at) => {
        const part = parts.get(number)
        if (!part || part.etag !== etag) throw new S3Error(400, 'InvalidPart')
        if (at > 0 && number <= (named[at - 1]?.number ?? 0)) throw new S3Error(400, 'InvalidPartOrder')
        if (at < named.length - 1 && part.bytes.length < minPartBytes) throw new S3Error(400, 'EntityTooSmall')
        return part.bytes
      })
      if (bytes.length === 0) throw new S3Error(400, 'MalformedXML')
      const whole = Buffer.concat(bytes)
      const etag = `${md5(whole)}-${bytes.length}`
      store(whole, ownType, etag)
      uploads.delete(query.get('uploadId') ?? '')
      return xml(`<CompleteMultipartUploadResult><ETag>"${etag}"</ETag></CompleteMultipartUploadResult>`)
    }
    if (call === 'AbortMultipartUpload') {
      upload()
      uploads.delete(query.get('uploadId') ?? '')
      return response.writeHead(204).end()
    }
    if (call === 'ListMultipartUploads') {
      const found = [...uploads].filter(([, each]) => each.key.startsWith(query.get('prefix') ?? ''))
      const from = found.findIndex(([id]) => id === query.get('upload-id-marker')) + 1
      const [page] = found.slice(from)
      const item =
        page &&
        `<Upload><Key>${page[1].key}</Key><UploadId>${page[0]}</UploadId><Initiated>${new Date(page[1].startedAt).toISOString()}</Initiated></Upload>`
      const more = found.length > from + 1
      const next = more
        ? `<NextKeyMarker>${page?.[1].key}</NextKeyMarker><NextUploadIdMarker>${page?.[0]}</NextUploadIdMarker>`
        : ''
      return xml(
        `<ListMultipartUploadsResult>${next}<IsTruncated>${more}</IsTruncated>${item ?? ''}</ListMultipartUploadsResult>`,
      )
    }
    if (call === 'DeleteObject') {
      objects.delete(key)
      return response.writeHead(204).end()
    }
    const object = objects.get(key)
    if (!object) throw new S3Error(404, 'NoSuchKey')
    const ifMatch = request.headers['if-match']
    if (ifMatch !== undefined && ifMatch !== object.etag) throw new S3Error(412, 'PreconditionFailed')
    const headers = {
      etag: object.etag,
      'last-modified': new Date(object.modifiedAt).toUTCString(),
      'content-type': object.type,
    }
    if (call === 'HeadObject')
      return response.writeHead(200, { ...headers, 'content-length': object.bytes.length }).end()
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const range = object.bytes.subarray(Number(first ?? 0), Number(last ?? object.bytes.length - 1) + 1)
    response.writeHead(first === undefined ? 200 : 206, { ...headers, 'content-length': range.length })
    return response.end(range)
  }

  const operationOf = ({ method = '' }: IncomingMessage, { searchParams: query }: URL): string => {
    if (query.has('uploads')) return method === 'GET' ? 'ListMultipartUploads' : 'CreateMultipartUpload'
    if (query.has('uploadId'))
      return { PUT: 'UploadPart', POST: 'CompleteMultipartUpload', DELETE: 'AbortMultipartUpload' }[method] ?? method
    return { PUT: 'PutObject', GET: 'GetObject', HEAD: 'HeadObject', DELETE: 'DeleteObject' }[method] ?? method
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://s3')
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      // The client has disconnected.
      return
    }
    const body = Buffer.concat(chunks)
    const call = operationOf(request, url)
    calls.push(call)
    try {
      if (!`${url.pathname}/`.startsWith(`/${settings.bucket}/`)) throw new S3Error(404, 'NoSuchBucket')
      checkSignature(request, url, body)
      const fault = made.fault(call)
      if (fault === 'hang') return
      if (fault === 'reset') return void request.socket.destroy()
      if (typeof fault === 'number') throw new S3Error(fault, 'Fault')
      if (fault === 'truncate') {
        response.flushHeaders = () => {}
        const { end } = response
        response.end = ((bytes?: Buffer) => {
          response.write(bytes?.subarray(0, bytes.length / 2) ?? '', () => request.socket.destroy())
          return response
        }) as typeof end
      }
      handle(call, request, url, body, response)
    } catch (error) {
      if (!(error instanceof S3Error)) throw error
      const text = `<?xml version="1.0"?><Error><Code>${error.code}</Code><Message>${error.code}</Message></Error>`
      response.writeHead(error.status, { 'content-type': 'application/xml' }).end(request.method === 'HEAD' ? '' : text)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const made: S3Server = {
    ...settings,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ objects, uploads, calls },
    fault: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return made
}
