import type { Awaitable } from '../awaitable.ts'
import { Pace, runInTurns, runSteps, type SteppedWork } from '../background/turns.ts'
import { FieldProblem } from '../field-problem.ts'
import { entriesPerTurn, isLarge, type Json } from '../json/json.ts'
import { assetIn, assetInText, assetPrefixSource, maxPrefixBytes } from './asset-text.ts'
import { checkLongMediaValue, isDataUrl, readMediaValue } from './media-value.ts'

/** An asset in a request, and the path of its field. */
export interface AssetReference {
  /**
   * The asset id. Outside media fields it is any text after `asset:`; often it is no valid id (empty, or with a path, a
   * query or an escape) and matches no asset.
   */
  readonly id: string
  /** For example `messages[0].content[1].image_url.url`. */
  readonly param: string
}

/** Each asset costs one ownership query. */
const maxAssets = 1000

/**
 * Limit in bytes for all short strings in media fields together, because each is decoded. Longer ones are content,
 * which needs no decoding.
 */
const maxShortTotalBytes = 2 ** 23
const maxShortBytes = 2 ** 16

/** A URL of 16,384 characters has fewer bytes, even if all are escaped. A longer string is content, or invalid. */
const maxAddressBytes = 2 ** 17

const notMedia = 'must be an http, https or data URL, or asset:// with the id of one of your assets'

const rejectField = (param: string, what: string): never => {
  throw new FieldProblem(400, `${param} ${what}`, { param })
}

/**
 * Finds all assets in a chat or responses request, each id once, and validates its media fields.
 *
 * An upstream may support more fields than any list here, so the key decides. Every string below a key that ends in
 * `url`, `image`, `video`, `audio`, `frame`, `file` or similar has to be a value that `readMediaValue` accepts, except
 *
 * - values of companion keys: `type`, `detail`, `format`, `filename` and similar; and, under a key that is no media
 *   key, a lower-case keyword such as `auto`;
 * - text for the model: the value of `text`, `content`, `input`, `output`, `instructions`, `arguments`, `refusal`,
 *   `reasoning`, `reasoning_content`, `thinking`, `description`, `name`, `title`, `prompt` or `suffix`, and a string
 *   with a space in a top-level list `input` or `prompt`, as embeddings and completions have it;
 * - citations in earlier output: anything in `annotations`, `action` and `sources`.
 *
 * There and everywhere else, a string or key that begins with `asset:` names an asset, except
 *
 * - a string under one of the text keys above. It does name an asset below a media key, and in an object with a type
 *   (`type`, `content_type`) that ends like a media key or is a media type; its `param` is then the path of the object;
 * - anything in the top-level `metadata`, `stop`, `user`, `prompt_cache_key` and `safety_identifier`;
 * - in the JSON schemas of tools and response formats: property names, and anything in `enum`, `const`, `default`,
 *   `example`, `examples` and `pattern`.
 *
 * The search ignores letter case, JSON escapes, symbols before the scheme, and white space and control characters
 * within it. Of a duplicate key it reads both values.
 *
 * Throws FieldProblem 400 for the first invalid media value, for more than 1,000 assets, for more than 8 MiB of URLs,
 * and for strings that together begin with more than 1 MiB of symbols and white space.
 */
export const assetsIn = (request: Json): readonly AssetReference[] => runSteps(search(request))

/** The same as `assetsIn`, for a large request over several turns of the event loop. Rejects with the same errors. */
export const assetsInTurns = (request: Json): Awaitable<readonly AssetReference[]> =>
  isLarge(request) ? runInTurns(search(request)) : assetsIn(request)

/**
 * Where a value is in the request, as far as it matters.
 *
 * In `plain` no string names an asset. In `media` every string has to be a valid media value. In `citation`, media keys
 * have no meaning. In all others, a string that begins with `asset:` names an asset, unless its key is a text key.
 * `textOptions`, `definitions` and `schema` lead to JSON schemas.
 */
export type FieldContext =
  | 'request'
  | 'items'
  | 'textOptions'
  | 'definitions'
  | 'schema'
  | 'other'
  | 'media'
  | 'citation'
  | 'plain'

const noAssets: readonly AssetReference[] = []

/** Citations in earlier output. */
const citations = ['annotations', 'action', 'sources'].map((key) => [key, 'citation'] as const)

const childContexts: Readonly<Partial<Record<FieldContext, ReadonlyMap<string, FieldContext>>>> = {
  request: new Map<string, FieldContext>([
    ['tools', 'definitions'],
    ['functions', 'definitions'],
    ['response_format', 'definitions'],
    ['text', 'textOptions'],
    ['input', 'items'],
    ['metadata', 'plain'],
    ['stop', 'plain'],
    ['user', 'plain'],
    ['prompt_cache_key', 'plain'],
    ['safety_identifier', 'plain'],
  ]),
  textOptions: new Map([['format', 'definitions']]),
  items: new Map<string, FieldContext>([['tools', 'definitions'], ...citations]),
  other: new Map(citations),
  definitions: new Map(['parameters', 'schema', 'input_schema'].map((key) => [key, 'schema'])),
  schema: new Map(['enum', 'const', 'default', 'example', 'examples', 'pattern'].map((key) => [key, 'plain'])),
}

/** Contexts that apply to all nested values. */
const inherited: ReadonlySet<FieldContext> = new Set(['definitions', 'schema', 'media', 'citation', 'plain'])

/** Contexts in which media keys have no meaning. */
const withoutMediaKeys: ReadonlySet<FieldContext> = new Set(['schema', 'citation', 'plain'])

const textKeys: ReadonlySet<string> = new Set([
  ...['text', 'content', 'input', 'output', 'instructions', 'arguments', 'refusal'],
  ...['reasoning', 'reasoning_content', 'thinking', 'description', 'name', 'title', 'prompt', 'suffix'],
])

const mediaWord =
  '(?:ur[il]|image|video|audio|frame|(?<!pro)file|media|photo|picture|screenshot|mask|asset)(?:s|_?data)?'
const mediaKey = new RegExp(`${mediaWord}$`, 'i')

/**
 * Matches every request that needs the search: it has an escape that may hide a key or a scheme, a media key, or an
 * asset.
 */
const mayNameAsset = new RegExp(`\\\\u|${mediaWord}"\\s*:|${assetPrefixSource}`, 'i')

/** Above this size in bytes, the search of the fields costs less than this regular expression. */
const maxSearchLength = 2 ** 14

/** Keys beside a URL, below a media key. */
const companionKeys: ReadonlySet<string> = new Set([
  ...['type', 'mime_type', 'media_type', 'content_type', 'format', 'detail'],
  ...['filename', 'file_name', 'file_id', 'voice'],
])

const keyword = /^[a-z_]{1,32}$/

/** The `type` of a media object, or a media type (RFC 6838). */
const mediaType = new RegExp(`${mediaKey.source}|^(?:image|video|audio)/`, 'i')

/** Longer than any type, so that long texts are not decoded. */
const isMediaType = (json: Json): boolean =>
  json.isString && json.byteLength <= 1000 && mediaType.test(json.string() ?? '')

export const contextBelow = (context: FieldContext, key: string): FieldContext => {
  const step = childContexts[context]?.get(key)
  if (step) return step
  if (!withoutMediaKeys.has(context) && mediaKey.test(key)) return 'media'
  return inherited.has(context) ? context : 'other'
}

/** An object or array on the path to the current value, with the current key or index in it. */
export interface Location {
  readonly outer: Location | undefined
  at: string | number
}

const pathOf = ({ outer, at }: Location): string => {
  const step = typeof at === 'number' ? `[${at}]` : at
  if (!outer) return step
  return typeof at === 'number' ? pathOf(outer) + step : `${pathOf(outer)}.${step}`
}

function* search(request: Json): SteppedWork<readonly AssetReference[]> {
  if (request.byteLength <= maxSearchLength && !mayNameAsset.test(request.raw)) return noAssets
  const found = new Map<string, string>()
  /** Assets in text fields. Only the end of the object shows whether it is a media object, in which they count. */
  const deferred: string[] = []
  const scanned = { bytes: 0 }
  const pace = new Pace(entriesPerTurn)
  let shortBytes = 0

  const addAsset = (id: string | undefined, location: Location): void => {
    if (id === undefined || found.has(id)) return
    const param = pathOf(location)
    if (found.size === maxAssets) throw new FieldProblem(400, `request names more than ${maxAssets} assets`, { param })
    found.set(id, param)
  }

  /** Handles a value. Returns the steps that are left for one with many values, or a long one. */
  const value = (json: Json, context: FieldContext, outer: Location | undefined): SteppedWork<void> | undefined => {
    if (context === 'plain') return undefined
    if (json.isObject) return object(json, context, { outer, at: '' })
    if (json.isArray) return array(json, context, { outer, at: 0 })
    if (!json.isString || !outer) return undefined
    if (context === 'media' && !isCompanion(outer)) return medium(json, outer)
    string(json, context, outer)
    return undefined
  }

  const string = (json: Json, context: FieldContext, location: Location): void => {
    const id = assetIn(json, scanned)
    if (scanned.bytes >= maxPrefixBytes)
      rejectField(pathOf(location), 'begins with too many characters that are no letters or digits')
    if (id === undefined) return
    if (context !== 'media' && (textKeys.has(String(location.at)) || isListedText(id, location))) deferred.push(id)
    else addAsset(id, location)
  }

  const medium = (json: Json, location: Location): SteppedWork<void> | undefined => {
    // Most bytes of a request are in such URLs; they need no decoding.
    if (isDataUrl(json.bytes)) return undefined
    if (json.byteLength > maxShortBytes) return longMedium(json, location)
    shortMedium(json, location)
    return undefined
  }

  function* longMedium(json: Json, location: Location): SteppedWork<void> {
    if (yield* checkLongMediaValue(json.bytes, location.at)) return
    if (json.byteLength > maxAddressBytes) rejectField(pathOf(location), notMedia)
    shortMedium(json, location)
  }

  const shortMedium = (json: Json, location: Location): void => {
    shortBytes += json.byteLength
    if (shortBytes > maxShortTotalBytes)
      rejectField(pathOf(location), 'exceeds the limit of 8 MiB for all media URLs of a request')
    const text = json.string() ?? ''
    const medium = readMediaValue(text, location.at)
    if (medium) addAsset(medium.asset, location)
    else if (typeof location.at === 'number' || mediaKey.test(location.at) || !keyword.test(text))
      rejectField(pathOf(location), notMedia)
  }

  function* object(json: Json, context: FieldContext, location: Location): SteppedWork<void> {
    const deferredBefore = deferred.length
    let isMedia = false
    for (const { key, value: inner } of json.members()) {
      if (pace.isDue()) yield
      location.at = key
      if (context !== 'schema') addAsset(assetInText(key), location)
      if (typedContexts.has(context) && /type$/i.test(key)) isMedia ||= isMediaType(inner)
      const more = value(inner, contextBelow(context, key), location)
      if (more) yield* more
    }
    if (!isMedia || !location.outer) return
    for (const id of deferred.splice(deferredBefore)) addAsset(id, location.outer)
  }

  function* array(json: Json, context: FieldContext, location: Location & { at: number }): SteppedWork<void> {
    for (const element of json.elements()) {
      if (pace.isDue()) yield
      const more = value(element, context, location)
      if (more) yield* more
      location.at++
    }
  }

  const more = value(request, 'request', undefined)
  if (more) yield* more
  return [...found].map(([id, param]) => ({ id, param }))
}

/** Whether a string with this id is a text in a top-level list, as embeddings have it. An address has no space. */
const isListedText = (id: string, { at, outer }: Location): boolean =>
  typeof at === 'number' && outer?.outer === undefined && textLists.has(outer?.at) && id.trim().includes(' ')

const textLists: ReadonlySet<unknown> = new Set(['input', 'prompt'])

/** Whether the own key of a string below a media key shows that it is no URL. */
export const isCompanion = ({ at, outer }: Location): boolean => {
  if (typeof at === 'number') return false
  // Audio output and voices have ids of their own.
  if (at === 'id') return outer?.at === 'audio' || outer?.at === 'voice'
  return companionKeys.has(at) || textKeys.has(at)
}

const typedContexts: ReadonlySet<FieldContext> = new Set(['items', 'other'])
