import { composeArray, type Json, toJson } from '../../shared/json/json.ts'
import type { PictureAssets } from '../../shared/media/picture-assets.ts'
import type { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import type { Registration } from '../tasks/request/fields.ts'
import { startOf } from '../tasks/request/model-rules.ts'
import { personRefusalOf } from '../upstream/person-refusal.ts'

/**
 * What is to be registered after a rejection of a create call. Undefined: the rejection is final. It is about something
 * else, or about a picture that is an asset already or cannot become one.
 *
 * Where the vendor does not name the picture, each may be the one: all become assets.
 *
 * @param request as the caller has sent it
 */
export const registrationAfter = (
  { response }: UpstreamRejectedError,
  request: Json,
  { pictures }: Registration,
  { takesFiles }: Pick<PictureAssets, 'takesFiles'>,
  at: number,
): Registration | undefined => {
  const refusal = personRefusalOf(response)
  if (!refusal) return undefined
  const { code, message, items } = refusal
  const plain = plainPicturesIn(request, takesFiles).filter((index) => !pictures.some((known) => known.index === index))
  const refused = items.length === 0 ? plain : plain.filter((index) => items.includes(index))
  if (refused.length === 0) return undefined
  return { pictures: [...pictures, ...refused.map((index) => ({ index }))], refusal: { code, message, at } }
}

/** The indexes of the pictures in `content` that are addresses or, where they can be registered too, files. */
const plainPicturesIn = (request: Json, takesFiles: boolean): readonly number[] =>
  (request.get('content')?.elements() ?? []).flatMap((item, index) => {
    const url = item.get('type')?.string() === 'image_url' ? item.get('image_url')?.get('url') : undefined
    const start = url?.isString ? startOf(url) : ''
    return /^"https?:/i.test(start) || (takesFiles && /^"data:/i.test(start)) ? [index] : []
  })

/** The address of a picture in a request. Undefined: there is none. */
export const pictureIn = (request: Json, index: number): string | undefined =>
  request.get('content')?.elements()[index]?.get('image_url')?.get('url')?.string()

/** A request with the assets of its pictures in their place. */
export const withAssets = (request: Json, { pictures }: Registration): Json => {
  const assets = new Map(pictures.map(({ index, asset }) => [index, asset]))
  const content = request.get('content')
  if (assets.size === 0 || !content) return request
  const items = content.elements().map((item, index) => {
    const [asset, picture] = [assets.get(index), item.get('image_url')]
    return asset === undefined || !picture
      ? item
      : item.with('image_url', picture.with('url', toJson(`asset://${asset}`)))
  })
  return request.with('content', composeArray(items))
}
