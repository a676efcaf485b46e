import { composeArray, type Json, toJson } from '../../shared/json/json.ts'
import type { PlacedAssets } from '../../shared/media/asset-ownership.ts'

/** The request with the upstream's ids of its assets. */
export const withPlacedAssets = (request: Json, placed: PlacedAssets): Json => {
  const content = request.get('content')
  if (placed.size === 0 || !content) return request
  return request.with('content', composeArray(content.elements().map((item) => placedItem(item, placed))))
}

const placedItem = (item: Json, placed: PlacedAssets): Json => {
  for (const name of ['image_url', 'video_url', 'audio_url']) {
    const medium = item.get(name)
    const id = assetIn(medium?.get('url'))
    const upstreamId = id === undefined ? undefined : placed.get(id)
    if (medium && upstreamId !== undefined) return item.with(name, medium.with('url', toJson(`asset://${upstreamId}`)))
  }
  return item
}

/** Longer than the address of any asset. */
const maxAssetBytes = 512

const assetIn = (url: Json | undefined): string | undefined =>
  url?.isString && url.byteLength <= maxAssetBytes ? url.string()?.match(/^asset:\/\/(.+)$/)?.[1] : undefined
