import type { Asset, AssetType } from './records.ts'

/** How processing ends. */
export type Outcome =
  | { readonly status: 'Active' }
  | { readonly status: 'Failed'; readonly code: string; readonly message: string }

const FORMATS: Readonly<Record<AssetType, readonly string[]>> = {
  Image: ['jpeg', 'jpg', 'png', 'webp', 'bmp', 'tiff', 'tif', 'gif', 'heic', 'heif'],
  Video: ['mp4', 'mov'],
  Audio: ['wav', 'mp3'],
}

/**
 * The default outcome, read from the address alone; nothing is ever fetched.
 * - a path segment `fail-<Code>`, as in `https://x.example/fail-FaceMismatch/a.png`: Failed with that code
 * - a host that ends with `.invalid`, or no address at all: `DownloadFailed`
 * - an ending of another type of asset: `TypeMismatch`; any other unknown ending: `FormatUnsupported`
 * - everything else, also without an ending: Active
 */
export function outcomeByUrl(asset: Asset): Outcome {
  if (!URL.canParse(asset.url)) return failed('DownloadFailed', 'The address makes no sense.')
  const { hostname, pathname } = new URL(asset.url)
  const planted = pathname.match(/\/fail-([A-Za-z.]+)(?:\/|$)/)?.[1]
  if (planted) return failed(planted, `Processing ended with ${planted}.`)
  if (hostname.endsWith('.invalid')) return failed('DownloadFailed', 'The file could not be downloaded.')
  const ending = pathname.match(/\.([^./]+)$/)?.[1]?.toLowerCase()
  if (ending === undefined || FORMATS[asset.type].includes(ending)) return { status: 'Active' }
  const other = Object.values(FORMATS).some((endings) => endings.includes(ending))
  if (other) return failed('TypeMismatch', `The file is not of type ${asset.type}.`)
  return failed('FormatUnsupported', `The format ${ending} is not supported.`)
}

function failed(code: string, message: string): Outcome {
  return { status: 'Failed', code, message }
}
