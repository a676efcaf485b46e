import type { Asset, AssetType } from './records.ts'

/** The result of processing an asset. */
export type Outcome =
  | { readonly status: 'Active' }
  | { readonly status: 'Failed'; readonly code: string; readonly message: string }

const formats: Readonly<Record<AssetType, readonly string[]>> = {
  Image: ['jpeg', 'jpg', 'png', 'webp', 'bmp', 'tiff', 'tif', 'gif', 'heic', 'heif'],
  Video: ['mp4', 'mov'],
  Audio: ['wav', 'mp3'],
}

/**
 * The default outcome. It depends only on the URL; the emulator never fetches a file.
 * - a path segment `fail-<Code>`, as in `https://x.example/fail-FaceMismatch/a.png`: Failed with that code
 * - a host that ends with `.invalid`, or an invalid URL: `DownloadFailed`
 * - a file extension of another asset type: `TypeMismatch`; an unknown file extension: `FormatUnsupported`
 * - everything else, also without a file extension: Active
 */
export const outcomeByUrl = (asset: Asset): Outcome => {
  if (!URL.canParse(asset.url)) return failed('DownloadFailed', 'The URL is invalid.')
  const { hostname, pathname } = new URL(asset.url)
  const code = pathname.match(/\/fail-([A-Za-z.]+)(?:\/|$)/)?.[1]
  if (code) return failed(code, `Processing ended with ${code}.`)
  if (hostname.endsWith('.invalid')) return failed('DownloadFailed', 'The file could not be downloaded.')
  const extension = pathname.match(/\.([^./]+)$/)?.[1]?.toLowerCase()
  if (extension === undefined || formats[asset.type].includes(extension)) return { status: 'Active' }
  const other = Object.values(formats).some((extensions) => extensions.includes(extension))
  if (other) return failed('TypeMismatch', `The file is not of type ${asset.type}.`)
  return failed('FormatUnsupported', `The format ${extension} is not supported.`)
}

const failed = (code: string, message: string): Outcome => ({ status: 'Failed', code, message })
