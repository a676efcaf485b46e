import type { ListMultipartUploadsCommandOutput, S3Client } from '@aws-sdk/client-s3'
import { checkAbove0, checkKey } from '../../shared/plugin/options.ts'
import type { Fetch } from '../../shared/upstream/upstream-error.ts'
import { createS3Handler, inTime, sourceOfBody } from './s3-handler.ts'
import { checkFileKey, limited, type Storage, StorageTimeoutError } from './storage.ts'

/** Options of `s3Storage`. */
export interface S3StorageOptions {
  readonly bucket: string
  /** What the names of all objects begin with, such as `sluice/`. Default: nothing. */
  readonly prefix?: string
  /** The address of a service other than AWS, such as `http://127.0.0.1:9000`. */
  readonly endpoint?: string
  /** Default `us-east-1`. */
  readonly region?: string
  /**
   * Where the bucket is named: `path` in the path, `host` in the host name. Default: `path` with an `endpoint`, `host`
   * without one.
   */
  readonly style?: 'path' | 'host'
  readonly accessKey: string
  readonly secretKey: string
  /**
   * How long the service may take to respond to one call, its repetitions included, and to send the next bytes of a
   * file. In milliseconds. Default 80,000: a part of 8 MiB at 1 Mbit/s.
   */
  readonly timeoutMs?: number
  /** Default: the global `fetch`, with a new connection for each request. */
  readonly fetch?: Fetch
}

/**
 * Two of them are in memory for each `put`: one that is sent, one that is filled. The protocol permits 10,000 parts of
 * at least 5 MiB.
 */
const partBytes = 2 ** 23

/**
 * Files in a bucket of an S3-compatible service. Needs the package `@aws-sdk/client-s3`, which is loaded at the first
 * use.
 *
 * A long file is sent in parts, one after another; a failed part is sent again, three times at most. The credentials
 * need the permissions to get, put and delete objects, to abort multipart uploads, and to list those of the bucket.
 */
export const s3Storage = (options: S3StorageOptions): Storage => {
  for (const name of ['bucket', 'accessKey', 'secretKey'] as const) checkKey(name, options[name])
  const { bucket: Bucket, prefix = '', timeoutMs = 80_000 } = options
  checkAbove0({ timeoutMs })
  let connecting: Promise<Connection> | undefined
  const connected = (): Promise<Connection> => {
    connecting ??= connect(options, timeoutMs).catch((error: unknown) => {
      connecting = undefined
      throw error
    })
    return connecting
  }
  const target = (key: string) => ({ Bucket, Key: prefix + checkFileKey(key) })

  return {
    putBytes: 2 * partBytes,

    async put(key, body, { contentType: ContentType, signal, maxBytes }) {
      const { sdk, send } = await connected()
      const object = target(key)
      const parts = partsOf(limited(body, { maxBytes, signal }))
      const first = (await parts.next()).value ?? new Uint8Array(0)
      let next = await parts.next()
      if (next.done) {
        const command = new sdk.PutObjectCommand({ ...object, ContentType, Body: first })
        await send(command, { abortSignal: signal })
        return first.length
      }
      const create = new sdk.CreateMultipartUploadCommand({ ...object, ContentType })
      const { UploadId } = await send(create, { abortSignal: signal })
      const multipart = { ...object, UploadId }
      const failed = new AbortController()
      const abortSignal = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
      const sent: { PartNumber: number; ETag: string | undefined }[] = []
      const sendPart = async (Body: Uint8Array) => {
        const PartNumber = sent.length + 1
        const { ETag } = await send(new sdk.UploadPartCommand({ ...multipart, PartNumber, Body }), { abortSignal })
        sent.push({ PartNumber, ETag })
      }
      let sending: Promise<void> | undefined
      try {
        await sendPart(first)
        let length = first.length
        while (!next.done) {
          length += next.value.length
          // The next part is filled while this one is sent.
          sending = sendPart(next.value)
          sending.catch(() => {})
          next = await parts.next()
          await sending
        }
        const complete = new sdk.CompleteMultipartUploadCommand({ ...multipart, MultipartUpload: { Parts: sent } })
        await send(complete, { abortSignal })
        return length
      } catch (error) {
        await parts.return(undefined)
        failed.abort()
        // A part that arrives after the abortion would remain.
        await sending?.catch(() => {})
        // If this fails too, `removeUnfinished` does it later.
        const aborted = send(new sdk.AbortMultipartUploadCommand(multipart)).catch(() => {})
        if (!(error instanceof StorageTimeoutError)) await aborted
        throw error
      }
    },

    async find(key) {
      const { sdk, send } = await connected()
      try {
        const found = await send(new sdk.HeadObjectCommand(target(key)))
        const { ContentLength: size = 0, LastModified, ETag: etag = '' } = found
        return { size, modifiedAt: LastModified?.getTime() ?? 0, etag }
      } catch (error) {
        if (statusOf(error) === 404) return undefined
        throw error
      }
    },

    read: (key, info, { first, last }) =>
      sourceOfBody({ length: last - first + 1, stallMs: timeoutMs }, async (abortSignal) => {
        const { sdk, send } = await connected()
        const command = new sdk.GetObjectCommand({
          ...target(key),
          Range: `bytes=${first}-${last}`,
          IfMatch: info.etag,
        })
        const { Body } = await send(command, { abortSignal })
        return Body?.transformToWebStream()
      }),

    async remove(key) {
      const { sdk, send } = await connected()
      await send(new sdk.DeleteObjectCommand(target(key)))
    },

    async removeUnfinished(before) {
      const { sdk, send } = await connected()
      let removed = 0
      let markers: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {}
      while (markers) {
        const list = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: prefix, ...markers })
        const page: ListMultipartUploadsCommandOutput = await send(list)
        for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
          if ((Initiated?.getTime() ?? Number.POSITIVE_INFINITY) >= before) continue
          await send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
          removed++
        }
        markers = page.IsTruncated
          ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
          : undefined
      }
      return removed
    },
  }
}

interface Connection {
  readonly sdk: typeof import('@aws-sdk/client-s3')
  /** That of the client, with the time limit. */
  readonly send: S3Client['send']
}

const connect = async (
  { endpoint, region = 'us-east-1', style, ...options }: S3StorageOptions,
  timeoutMs: number,
): Promise<Connection> => {
  const sdk = await import('@aws-sdk/client-s3').catch((cause: unknown) => {
    throw new Error('a storage on S3 needs the package @aws-sdk/client-s3: add it to your project', { cause })
  })
  const client = new sdk.S3Client({
    region,
    endpoint: endpoint ?? addressOfAws(region),
    forcePathStyle: (style ?? (endpoint === undefined ? 'host' : 'path')) === 'path',
    credentials: { accessKeyId: options.accessKey, secretAccessKey: options.secretKey },
    requestHandler: createS3Handler(options.fetch),
    // Other services than AWS reject the checksums that the client adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 4,
    // What is set here is not read from `AWS_…` variables and files in the home directory, which are not this program's
    // configuration.
    retryMode: 'standard',
    defaultsMode: 'standard',
    authSchemePreference: ['aws.auth#sigv4'],
    sigv4aSigningRegionSet: [region],
    disableS3ExpressSessionAuth: true,
    useArnRegion: false,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    disableMultiregionAccessPoints: true,
    userAgentAppId: 'sluice',
    disableClockSkewCorrection: false,
    defaultUserAgentProvider: async () => [['sluice', '1']],
  })
  const send = (command: Parameters<S3Client['send']>[0], { abortSignal: given }: { abortSignal?: AbortSignal } = {}) =>
    inTime(timeoutMs, (abortSignal) => client.send(command, { abortSignal }), given)
  return { sdk, send: send as S3Client['send'] }
}

/** https://docs.aws.amazon.com/general/latest/gr/s3.html */
export const addressOfAws = (region: string): string =>
  `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`

const statusOf = (error: unknown): number | undefined =>
  (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode

/**
 * Joins the pieces of a body to parts. All but the last have exactly `partBytes` bytes, as some services require. A
 * part is valid until the next but one is asked for: two buffers take turns, because new ones would be collected late.
 */
async function* partsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const buffers: Uint8Array<ArrayBuffer>[] = []
  let turn = 0
  let length = 0
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      buffers[turn] ??= new Uint8Array(partBytes)
      const part = buffers[turn] ?? new Uint8Array(0)
      const taken = Math.min(chunk.length - at, partBytes - length)
      part.set(chunk.subarray(at, at + taken), length)
      at += taken
      length += taken
      if (length < partBytes) continue
      yield part
      turn = 1 - turn
      length = 0
    }
  }
  if (length > 0) yield buffers[turn]?.subarray(0, length) ?? new Uint8Array(0)
  return undefined
}
