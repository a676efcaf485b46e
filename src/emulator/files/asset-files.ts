import type { ReceivedRequest } from '../action.ts'
import type { Reply } from '../faults/faulty-reply.ts'
import type { Asset } from '../library/records.ts'
import { sha256 } from '../shared/hash.ts'
import { isLoopback } from '../shared/loopback.ts'
import { fileReply, storeError } from './file-reply.ts'
import type { LinkSigner } from './link-signer.ts'

/** Path prefix of the files: the bucket of the account. */
export const assetFilesPath = '/ark-media-asset/'

const maxFileBytes = 64 * 2 ** 20
/** Further files are not kept. */
const maxKeptBytes = 256 * 2 ** 20

interface KeptFile {
  readonly bytes: Uint8Array
  readonly type: string
}

/** The files of assets. Their links are signed; no key is needed. */
export interface AssetFiles {
  /**
   * Downloads the file of an asset whose address is on this machine, as a gateway's own storage is. The emulator
   * requests no other address.
   */
  keep(asset: Asset): void
  /**
   * A signed link to the object store, valid for 12 hours from this call. So two calls usually return different links.
   * It leads to the emulator if that keeps the file.
   */
  linkOf(asset: Asset): string
  reply(request: ReceivedRequest): Promise<Reply>
  /** Ends the downloads. */
  stop(): void
}

const linkSeconds = 43_200
const extensions = { Image: 'png', Video: 'mp4', Audio: 'mp3' }

/** What `createAssetFiles` depends on. */
export interface AssetFilesSource {
  readonly signer: LinkSigner
  readonly region: string
  /** Returns ms since 1970. */
  readonly now: () => number
  /** Returns the emulator's base URL. */
  readonly origin: () => string
}

export const createAssetFiles = ({ signer, region, now, origin }: AssetFilesSource): AssetFiles => {
  const files = new Map<string, Promise<KeptFile | undefined>>()
  const stopping = new AbortController()
  let keptBytes = 0

  const download = async (address: string): Promise<KeptFile | undefined> => {
    const response = await fetch(address, { redirect: 'error', signal: stopping.signal })
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || !response.body || !/^(?:image|video|audio)\//.test(type)) return undefined
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of response.body) {
      chunks.push(chunk)
      length += chunk.length
      if (length > Math.min(maxFileBytes, maxKeptBytes - keptBytes)) return undefined
    }
    keptBytes += length
    return { bytes: Buffer.concat(chunks), type }
  }

  return {
    keep({ id, url }) {
      const { protocol, hostname } = new URL(url)
      if (protocol !== 'http:' || !isLoopback(hostname) || keptBytes >= maxKeptBytes) return
      files.set(
        id,
        download(url).catch(() => undefined),
      )
    },
    linkOf({ id, type, project, groupId }) {
      const path = encodeURI(`/${project}/${groupId}/${id}.${extensions[type]}`)
      const base = files.has(id)
        ? origin() + assetFilesPath.slice(0, -1)
        : `https://ark-media-asset.tos-${region}.volces.com`
      return `${base}${path}?${signer.query(path, now(), linkSeconds)}`
    },
    async reply({ method, target, headers }) {
      if (method !== 'GET' && method !== 'HEAD')
        return storeError(405, 'MethodNotAllowed', 'The method is not allowed.', { allow: 'GET, HEAD' })
      const url = new URL(target, origin())
      const path = url.pathname.slice(assetFilesPath.length - 1)
      const refusal = signer.refusal(path, url.searchParams)
      if (refusal) return refusal
      const id = /([^/]+)\.[^./]+$/.exec(path)?.[1] ?? ''
      const file = await files.get(id)
      if (!file) return storeError(404, 'NoSuchKey', 'The specified key does not exist.')
      const etag = `"${sha256(file.bytes).slice(0, 32)}"`
      return fileReply(file.bytes, headers.range, { 'content-type': file.type, etag })
    },
    stop: () => stopping.abort(),
  }
}
