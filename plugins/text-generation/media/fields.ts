import type { Awaitable } from '../../shared/awaitable.ts'
import { type Json, nextTurn } from '../../shared/json.ts'
import { TextProblem } from '../problem.ts'
import { refuseField } from '../validation.ts'
import { isDataAddress, readLongMedium, readMedium } from './address.ts'
import { assetIn, assetInText, maxLooked, maybeAtStart } from './asset-text.ts'

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
const maxShort = 2 ** 23
const short = 2 ** 16

/** An address of 16,384 characters, all of them escaped, has fewer bytes: what is longer is content, or nothing that may stand there. */
const longestAddress = 2 ** 17

const noMedium = 'must be an https, http or data address, or asset:// and the id of an asset of yours'

type Steps = ReturnType<typeof readLongMedium>

const finish = (steps: Steps): boolean => {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

const finishInTurns = async (steps: Steps): Promise<boolean> => {
  let step = steps.next()
  for (; !step.done; step = steps.next()) await nextTurn()
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
  search(request, (steps, param) => {
    if (!finish(steps)) refuseField(param, noMedium)
  })

/** The same, where content of megabytes is read in turns with whatever else the process has to do. Rejects likewise. */
export const assetsInTurns = (request: Json): Awaitable<readonly NamedAsset[]> => {
  const contents: Content[] = []
  const assets = search(request, (steps, param) => contents.push({ steps, param }))
  return contents.length === 0 ? assets : readInTurns(contents).then(() => assets)
}

interface Content {
  readonly steps: Steps
  readonly param: string
}

const readInTurns = async (contents: readonly Content[]): Promise<void> => {
  for (const { steps, param } of contents) if (!(await finishInTurns(steps))) refuseField(param, noMedium)
}

/**
 * What its place says of a string: in `words` it is no address, in `media` it has to be one, elsewhere it is one that begins so unless its key is one for text. In
 * `cited` keys for media mean nothing; the others are steps on the way to a JSON schema.
 */
type Place = 'request' | 'items' | 'answer' | 'definitions' | 'schema' | 'open' | 'media' | 'cited' | 'words'

const none: readonly NamedAsset[] = []

/** What a model said of where it had looked. */
const citations = ['annotations', 'action', 'sources'].map((key) => [key, 'cited'] as const)

const steps: Readonly<Partial<Record<Place, ReadonlyMap<string, Place>>>> = {
  request: new Map<string, Place>([
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
  items: new Map<string, Place>([['tools', 'definitions'], ...citations]),
  open: new Map(citations),
  definitions: new Map(['parameters', 'schema', 'input_schema'].map((key) => [key, 'schema'])),
  schema: new Map(['enum', 'const', 'default', 'example', 'examples', 'pattern'].map((key) => [key, 'words'])),
}

/** Places that everything below shares. */
const lasting: ReadonlySet<Place> = new Set(['definitions', 'schema', 'media', 'cited', 'words'])

/** Places where no key says that media follow. */
const keyless: ReadonlySet<Place> = new Set(['schema', 'cited', 'words'])

const textKeys: ReadonlySet<string> = new Set([
  ...['text', 'content', 'input', 'output', 'instructions', 'arguments', 'refusal'],
  ...['reasoning', 'reasoning_content', 'thinking', 'description', 'name', 'title'],
])

const mediaWord =
  '(?:ur[il]|image|video|audio|frame|(?<!pro)file|media|photo|picture|screenshot|mask|asset)(?:s|_?data)?'
const forMedia = new RegExp(`${mediaWord}$`, 'i')

/** Found in the text of any request in which there is something to look for: escapes that may hide it, a key for media, an address of an asset. */
const suspicious = new RegExp(`\\\\u|${mediaWord}"\\s*:|${maybeAtStart}`, 'i')

/** To walk through a longer text is cheaper than to search it. */
const longText = 2 ** 14

/** What goes with an address, below a key for media. */
const besides: ReadonlySet<string> = new Set([
  ...['type', 'mime_type', 'media_type', 'content_type', 'format', 'detail'],
  ...['filename', 'file_name', 'file_id', 'voice'],
])

const word = /^[a-z_]{1,32}$/

/** A `type` of media by its name, or a media type (RFC 6838). */
const mediaType = new RegExp(`${forMedia.source}|^(?:image|video|audio)/`, 'i')

/** No type is as long as a text may be. */
const isMediaType = (json: Json): boolean =>
  json.isString && json.byteLength <= 1000 && mediaType.test(json.string() ?? '')

const placeBelow = (place: Place, key: string): Place => {
  const step = steps[place]?.get(key)
  if (step) return step
  if (!keyless.has(place) && forMedia.test(key)) return 'media'
  return lasting.has(place) ? place : 'open'
}

/** An object or array around the place looked at, and which of its members that is in. */
interface Around {
  readonly outer: Around | undefined
  at: string | number
}

const pathOf = ({ outer, at }: Around): string => {
  const step = typeof at === 'number' ? `[${at}]` : at
  if (!outer) return step
  return typeof at === 'number' ? pathOf(outer) + step : `${pathOf(outer)}.${step}`
}

/** @param long told of strings that are too long for an address */
const search = (request: Json, long: (steps: Steps, param: string) => void): readonly NamedAsset[] => {
  if (request.byteLength <= longText && !suspicious.test(request.raw)) return none
  const found = new Map<string, string>()
  /** Texts that look like an address: whether the object around them holds media is certain only at its end. */
  const spared: string[] = []
  const looked = { bytes: 0 }
  let read = 0

  const keep = (id: string | undefined, where: Around): void => {
    if (id === undefined || found.has(id)) return
    const param = pathOf(where)
    if (found.size === maxAssets) throw new TextProblem(400, `request names more than ${maxAssets} assets`, { param })
    found.set(id, param)
  }

  const value = (json: Json, place: Place, outer: Around | undefined): void => {
    if (place === 'words') return
    if (json.isObject) object(json, place, { outer, at: '' })
    else if (json.isArray) array(json, place, { outer, at: 0 })
    else if (!json.isString || !outer) return
    else if (place === 'media' && !goesWith(outer)) medium(json, outer)
    else string(json, place, outer)
  }

  const string = (json: Json, place: Place, where: Around): void => {
    const id = assetIn(json, looked)
    if (looked.bytes >= maxLooked) refuseField(pathOf(where), 'begins with more that is no letter than texts do')
    if (place === 'media' || !textKeys.has(String(where.at))) keep(id, where)
    else if (id !== undefined) spared.push(id)
  }

  const medium = (json: Json, where: Around): void => {
    // Most of a request's bytes are in such an address: they need not be read.
    if (isDataAddress(json.bytes)) return
    if (json.byteLength > short) {
      const steps = readLongMedium(json.bytes, where.at)
      const isLong = json.byteLength > longestAddress
      if (isLong) long(steps, pathOf(where))
      if (isLong || finish(steps)) return
    }
    read += json.byteLength
    if (read > maxShort) refuseField(pathOf(where), 'is one address too many: they may have 8 MiB together')
    const text = json.string() ?? ''
    const medium = readMedium(text, where.at)
    if (medium) keep(medium.asset, where)
    else if (typeof where.at === 'number' || forMedia.test(where.at) || !word.test(text))
      refuseField(pathOf(where), noMedium)
  }

  const object = (json: Json, place: Place, around: Around): void => {
    const before = spared.length
    let isMedia = false
    for (const { key, value: inner } of json.members()) {
      around.at = key
      if (place !== 'schema') keep(assetInText(key), around)
      if (mayBeMedia.has(place) && /type$/i.test(key)) isMedia ||= isMediaType(inner)
      value(inner, placeBelow(place, key), around)
    }
    if (!isMedia || !around.outer) return
    for (const id of spared.splice(before)) keep(id, around.outer)
  }

  const array = (json: Json, place: Place, around: Around & { at: number }): void => {
    for (const element of json.elements()) {
      value(element, place, around)
      around.at++
    }
  }

  value(request, 'request', undefined)
  return [...found].map(([id, param]) => ({ id, param }))
}

/** Whether a string below a key for media is no address by its own key. */
const goesWith = ({ at, outer }: Around): boolean => {
  if (typeof at === 'number') return false
  // Speech that a model gave, and voices, have ids of their own.
  if (at === 'id') return outer?.at === 'audio' || outer?.at === 'voice'
  return besides.has(at) || textKeys.has(at)
}

const mayBeMedia: ReadonlySet<Place> = new Set(['items', 'open'])
