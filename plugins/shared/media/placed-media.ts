import { Pace, type SteppedWork } from '../background/turns.ts'
import { composeArray, entriesPerTurn, type Json, toJson } from '../json/json.ts'
import type { PlacedAssets } from './asset-ownership.ts'
import { contextBelow, type FieldContext, isCompanion, type Location } from './media-fields.ts'
import { readMediaValue } from './media-value.ts'

/**
 * A chat or responses request with the upstream's ids of its assets: in the media fields, as `assetsIn` finds them. A
 * text that is no media field stays what it is, so the model sees no id of the upstream. Returns the request itself if
 * it names none of the assets.
 */
export function* withPlacedMedia(request: Json, placed: PlacedAssets): SteppedWork<Json> {
  const pace = new Pace(entriesPerTurn)

  function* placedIn(json: Json, context: FieldContext, outer: Location | undefined): SteppedWork<Json> {
    if (pace.isDue()) yield
    if (context === 'plain') return json
    if (json.isObject) return yield* objectOf(json, context, { outer, at: '' })
    if (json.isArray) return yield* arrayOf(json, context, { outer, at: 0 })
    if (context !== 'media' || !json.isString || !outer || isCompanion(outer)) return json
    if (json.byteLength > maxAssetBytes) return json
    const upstreamId = placed.get(readMediaValue(json.string() ?? '', outer.at)?.asset ?? '')
    return upstreamId === undefined ? json : toJson(`asset://${upstreamId}`)
  }

  function* objectOf(json: Json, context: FieldContext, location: Location): SteppedWork<Json> {
    const changed = new Map<string, Json>()
    for (const { key, value } of json.members()) {
      location.at = key
      const placedValue = yield* placedIn(value, contextBelow(context, key), location)
      // Of duplicate keys, the last one counts.
      if (placedValue !== value || changed.has(key)) changed.set(key, placedValue)
    }
    return json.edit([...changed])
  }

  function* arrayOf(json: Json, context: FieldContext, location: Location & { at: number }): SteppedWork<Json> {
    const elements: Json[] = []
    let isChanged = false
    for (const element of json.elements()) {
      const placedElement = yield* placedIn(element, context, location)
      isChanged ||= placedElement !== element
      elements.push(placedElement)
      location.at++
    }
    return isChanged ? composeArray(elements) : json
  }

  return yield* placedIn(request, 'request', undefined)
}

/** Longer than the address of any asset, with each character escaped. */
const maxAssetBytes = 4_096
