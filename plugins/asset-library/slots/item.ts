import { responseHeaders } from '../../shared/http/headers.ts'
import { type Json, readJson, responseLimits, toJson } from '../../shared/json/json.ts'
import type { UpstreamResponse } from '../../upstream-proxy/index.ts'
import { UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import type { Originals } from './options.ts'
import type { SlottedAsset } from './store.ts'

/** Whether assets of a group may lose their slots. Those of persons do not (README, "Assets of persons"). */
export const isSlotted = ({ type }: { readonly type: string }): boolean => type === 'AIGC'

/** How long the address of a file in a response is valid at least: as the vendor's. Milliseconds. */
const linkMs = 43_200_000
/** Addresses stay the same for so long, for caches. Milliseconds. */
const linkStepMs = 3_600_000

/** An asset as the upstream describes it, with the id of the gateway, and with the address of the original. */
export const itemOf = (asset: SlottedAsset, { linkTo }: Pick<Originals, 'linkTo'>, now: number): Json => {
  const { id, name, group, status, original, createdAt, updatedAt } = asset
  const known = readJson(asset.item)
  const url =
    original === undefined
      ? known.get('URL')
      : toJson(linkTo(original, Math.ceil((now + linkMs) / linkStepMs) * linkStepMs))
  return known.edit([
    ['AssetType', known.get('AssetType') ?? readJson(asset.body).get('AssetType')],
    ['Id', toJson(id)],
    ['Name', toJson(name)],
    ['URL', url],
    ['GroupId', toJson(group)],
    ['Status', toJson(status)],
    ['CreateTime', toJson(timestampOf(createdAt))],
    ['UpdateTime', toJson(timestampOf(updatedAt))],
  ])
}

/** RFC 3339, in seconds, as the vendor writes times. */
export const timestampOf = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')

/** A time in whole seconds: what a list shows is what it is sorted by. */
export const wholeSeconds = (at: number): number => Math.floor(at / 1000) * 1000

/** The name by which the upstream knows an attempt to create an asset: no other asset has it. */
export const upstreamNameOf = ({ id, attempts }: Pick<SlottedAsset, 'id' | 'attempts'>): string => `${id}-${attempts}`

/** A response as the upstream would send it. */
export const toUpstreamResponse = (result: Json): UpstreamResponse => {
  const json = readJson(`{"Result":${result.raw}}`, responseLimits)
  return {
    status: 200,
    headers: responseHeaders(new Headers({ 'content-type': 'application/json' }), 200),
    bytes: new Uint8Array(json.bytes),
    json,
    fields: json.value() as UpstreamResponse['fields'],
  }
}

/** The upstream's answer for an asset that does not exist. */
export const noSuchAsset = (id: string): UpstreamRejectedError => {
  const error = { Code: 'NotFound.asset_id', Message: `The asset ${id} is not found.` }
  return new UpstreamRejectedError({
    status: 404,
    headers: responseHeaders(new Headers({ 'content-type': 'application/json' }), 404),
    bytes: new TextEncoder().encode(JSON.stringify({ ResponseMetadata: { Error: error } })),
  })
}
