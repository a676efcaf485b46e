import type { Awaitable } from '../../shared/awaitable.ts'
import { type Json, nextTurn } from '../../shared/json.ts'
import { TextProblem } from '../problem.ts'
import { refuseField } from '../validation.ts'
import { isDataUrl, readLongMedium, readMedium } from './address.ts'
import { assetIn, assetInText, maxPrefixBytes, maybeAtStart } from './asset-text.ts'

/** An asset that a request names, and where. */
export interface NamedAsset {
  /** Outside the fields for media it is whatever follows `asset:`. Often that cannot be an id (empty, with a path, a query, an escape): then it is nobody's asset. */
  readonly id: string
  /** For example `messages[0].content[1].image_url.url`. */
  readonly param: string
}

/** Each different asset costs a question about its owner. */
const maxAssets = 1000

/** Bytes of short strings in fields for media, all together: each is read. Longer ones are content, which a glance tells. */
const maxShortTotalBytes = 2 ** 23
const maxShortBytes = 2 ** 16

/** An address of 16,384 characters, all of them escaped, has fewer bytes: what is longer is content, or nothing that may stand there. */
const maxAddressBytes = 2 ** 17

const notMedia = 'must be an https, http or data address, or asset:// and the id of an asset of yours'

type ContentCheck = ReturnType<typeof readLongMedium>

const finish = (check: ContentCheck): boolean => {
  let step = check.next()
  while (!step.done) step = check.next()
  return step.value
}

const finishYielding = async (check: ContentCheck): Promise<boolean> => {
  let step = check.next()
  for (; !step.done; step = check.next()) await nextTurn()
  return step.value
}

/**
 * Looks into every field of a chat or responses request that takes media, and gives the assets that the request names, each id once. An upstream may know more
 * blocks and fields than any list here, so it is the key that tells: every string below a key that ends in `url`, `image`, `video`, `audio`, `frame`, `file`
 * or their like has to be one of those that `readMedium` knows, except
 *
 * - what goes with an address under a key of its own: `type`, `detail`, `format`, `filename` and their like, and, under any key that is none for
 *   media, a word in lower case such as `auto`;
 * - what is text for the model under its key: the value of `text`, `content`, `input`, `output`, `instructions`, `arguments`, `refusal`, `reasoning`,
 *   `reasoning_content`, `thinking`, `description`, `name` or `title`;
 * - what a model said of where it had looked: anything in `annotations`, `action` and `sources`.
 *
 * There, and everywhere else, a string or a key that begins with `asset:` names an asset, unless it is plain text for the model or for the books:
 *
 * - a string under one of the keys for text above, but not below a key for media, and not in an object one of whose types (`type`, `content_type`) ends as
 *   such a key does or is a media type; its `param` is then the object's;
 * - anything in the outermost `metadata`, `stop`, `user`, `prompt_cache_key` and `safety_identifier`;
 * - in the JSON schemas of tools and answer formats: property names, and anything in `enum`, `const`, `default`, `example`, `examples` and `pattern`.
 *
 * Such a beginning is not hidden by letter case, by JSON's escapes, by signs in front of it, by white space or control characters within the scheme, or by a
 * key that stands twice.
 *
 * Throws TextProblem 400 for the first string that may not stand in its field, beyond 1000 different ids, beyond 8 MiB of addresses, and where strings begin with more
 * than a MiB of signs and white space, all together.
 */
export const assetsIn = (request: Json): readonly NamedAsset[] =>
  search(request, (check, param) => {
    if (!finish(check)) refuseField(param, notMedia)
  })

/** The same, where content of megabytes is read in turns with whatever else the process has to do. Rejects likewise. */
export const assetsInTurns = (request: Json): Awaitable<readonly NamedAsset[]> => {
  const longMedia: LongMedium[] = []
  const assets = search(request, (check, param) => longMedia.push({ check, param }))
  return longMedia.length === 0 ? assets : readInTurns(longMedia).then(() => assets)
}

interface LongMedium {
  readonly check: ContentCheck
  readonly param: string
}

const readInTurns = async (longMedia: readonly LongMedium[]): Promise<void> => {
  for (const { check, param } of longMedia) if (!(await finishYielding(check))) refuseField(param, notMedia)
}

/**
 * What its place says of a string: in `words` it is no address, in `media` it has to be one, elsewhere it is one that begins so unless its key is one for text. In
 * `cited` keys for media mean nothing; the others are steps on the way to a JSON schema.
 */
type FieldContext = 'request' | 'items' | 'answer' | 'definitions' | 'schema' | 'open' | 'media' | 'cited' | 'words'

const noAssets: readonly NamedAsset[] = []

/** What a model said of where it had looked. */
const citations = ['annotations', 'action', 'sources'].map((key) => [key, 'cited'] as const)

const childContexts: Readonly<Partial<Record<FieldContext, ReadonlyMap<string, FieldContext>>>> = {
  request: new Map<string, FieldContext>([
    ['tools', 'definitions'],
    ['functions', 'definitions'],
    ['response_format', 'definitions'],
    ['text', 'answer'],
    ['input', 'items'],
    ['metadata', 'words'],
    ['stop', 'words'],
    ['user', 'words'],
    ['prompt_cache_key', 'words'],
    ['safety_identifier', 'words'],
  ]),
  answer: new Map([['format', 'definitions']]),
  items: new Map<string, FieldContext>([['tools', 'definitions'], ...citations]),
  open: new Map(citations),
  definitions: new Map(['parameters', 'schema', 'input_schema'].map((key) => [key, 'schema'])),
  schema: new Map(['enum', 'const', 'default', 'example', 'examples', 'pattern'].map((key) => [key, 'words'])),
}

/** Places that everything below shares. */
const inherited: ReadonlySet<FieldContext> = new Set(['definitions', 'schema', 'media', 'cited', 'words'])

/** Places where no key says that media follow. */
const withoutMediaKeys: ReadonlySet<FieldContext> = new Set(['schema', 'cited', 'words'])

const textKeys: ReadonlySet<string> = new Set([
  ...['text', 'content', 'input', 'output', 'instructions', 'arguments', 'refusal'],
  ...['reasoning', 'reasoning_content', 'thinking', 'description', 'name', 'title'],
])

const mediaWord =
  '(?:ur[il]|image|video|audio|frame|(?<!pro)file|media|photo|picture|screenshot|mask|asset)(?:s|_?data)?'
const mediaKey = new RegExp(`${mediaWord}$`, 'i')

/** Found in the text of any request in which there is something to look for: escapes that may hide it, a key for media, an address of an asset. */
const mayNameAsset = new RegExp(`\\\\u|${mediaWord}"\\s*:|${maybeAtStart}`, 'i')

/** To walk through a longer text is cheaper than to search it. */
const maxSearchLength = 2 ** 14

/** What goes with an address, below a key for media. */
const companionKeys: ReadonlySet<string> = new Set([
  ...['type', 'mime_type', 'media_type', 'content_type', 'format', 'detail'],
  ...['filename', 'file_name', 'file_id', 'voice'],
])

const keyword = /^[a-z_]{1,32}$/

/** A `type` of media by its name, or a media type (RFC 6838). */
const mediaType = new RegExp(`${mediaKey.source}|^(?:image|video|audio)/`, 'i')

/** No type is as long as a text may be. */
const isMediaType = (json: Json): boolean =>
  json.isString && json.byteLength <= 1000 && mediaType.test(json.string() ?? '')

const contextBelow = (context: FieldContext, key: string): FieldContext => {
  const step = childContexts[context]?.get(key)
  if (step) return step
  if (!withoutMediaKeys.has(context) && mediaKey.test(key)) return 'media'
  return inherited.has(context) ? context : 'open'
}

/** An object or array around the place looked at, and which of its members that is in. */
interface Location {
  readonly outer: Location | undefined
  at: string | number
}

const pathOf = ({ outer, at }: Location): string => {
  const step = typeof at === 'number' ? `[${at}]` : at
  if (!outer) return step
  return typeof at === 'number' ? pathOf(outer) + step : `${pathOf(outer)}.${step}`
}

/** @param onLongMedium told of strings that are too long for an address */
const search = (request: Json, onLongMedium: (check: ContentCheck, param: string) => void): readonly NamedAsset[] => {
  if (request.byteLength <= maxSearchLength && !mayNameAsset.test(request.raw)) return noAssets
  const found = new Map<string, string>()
  /** Texts that look like an address: whether the object around them holds media is certain only at its end. */
  const deferred: string[] = []
  const scanned = { bytes: 0 }
  let shortBytes = 0

  const addAsset = (id: string | undefined, location: Location): void => {
    if (id === undefined || found.has(id)) return
    const param = pathOf(location)
    if (found.size === maxAssets) throw new TextProblem(400, `request names more than ${maxAssets} assets`, { param })
    found.set(id, param)
  }

  const value = (json: Json, context: FieldContext, outer: Location | undefined): void => {
    if (context === 'words') return
    if (json.isObject) object(json, context, { outer, at: '' })
    else if (json.isArray) array(json, context, { outer, at: 0 })
    else if (!json.isString || !outer) return
    else if (context === 'media' && !isCompanion(outer)) medium(json, outer)
    else string(json, context, outer)
  }

  const string = (json: Json, context: FieldContext, location: Location): void => {
    const id = assetIn(json, scanned)
    if (scanned.bytes >= maxPrefixBytes)
      refuseField(pathOf(location), 'begins with more that is no letter than texts do')
    if (context === 'media' || !textKeys.has(String(location.at))) addAsset(id, location)
    else if (id !== undefined) deferred.push(id)
  }

  const medium = (json: Json, location: Location): void => {
    // Most of a request's bytes are in such an address: they need not be read.
    if (isDataUrl(json.bytes)) return
    if (json.byteLength > maxShortBytes) {
      const check = readLongMedium(json.bytes, location.at)
      const isLong = json.byteLength > maxAddressBytes
      if (isLong) onLongMedium(check, pathOf(location))
      if (isLong || finish(check)) return
    }
    shortBytes += json.byteLength
    if (shortBytes > maxShortTotalBytes)
      refuseField(pathOf(location), 'is one address too many: they may have 8 MiB together')
    const text = json.string() ?? ''
    const medium = readMedium(text, location.at)
    if (medium) addAsset(medium.asset, location)
    else if (typeof location.at === 'number' || mediaKey.test(location.at) || !keyword.test(text))
      refuseField(pathOf(location), notMedia)
  }

  const object = (json: Json, context: FieldContext, location: Location): void => {
    const deferredBefore = deferred.length
    let isMedia = false
    for (const { key, value: inner } of json.members()) {
      location.at = key
      if (context !== 'schema') addAsset(assetInText(key), location)
      if (typedContexts.has(context) && /type$/i.test(key)) isMedia ||= isMediaType(inner)
      value(inner, contextBelow(context, key), location)
    }
    if (!isMedia || !location.outer) return
    for (const id of deferred.splice(deferredBefore)) addAsset(id, location.outer)
  }

  const array = (json: Json, context: FieldContext, location: Location & { at: number }): void => {
    for (const element of json.elements()) {
      value(element, context, location)
      location.at++
    }
  }

  value(request, 'request', undefined)
  return [...found].map(([id, param]) => ({ id, param }))
}

/** Whether a string below a key for media is no address by its own key. */
const isCompanion = ({ at, outer }: Location): boolean => {
  if (typeof at === 'number') return false
  // Speech that a model gave, and voices, have ids of their own.
  if (at === 'id') return outer?.at === 'audio' || outer?.at === 'voice'
  return companionKeys.has(at) || textKeys.has(at)
}

const typedContexts: ReadonlySet<FieldContext> = new Set(['items', 'open'])
