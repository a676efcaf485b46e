import type { Page } from '../../pagination-normalizer/index.ts'
import { noStoreText } from '../../shared/http/no-store.ts'
import type { Json } from '../../shared/json/json.ts'
import type { UpstreamResponse } from '../../upstream-proxy/index.ts'

/**
 * The envelope of a list. Items keep the upstream's JSON text. `ResponseMetadata` is kept when there was exactly one
 * upstream response.
 */
export const envelope = <Item>(
  { items, nextToken, totalCount }: Page<Item>,
  jsonOf: (item: Item) => Json,
  responses: readonly UpstreamResponse[],
): Response => {
  let texts = ''
  // `join` would first copy each text into memory of its own.
  for (const item of items) texts += `${texts && ','}${jsonOf(item).raw}`
  return result200(
    `{"Items":[${texts}],"NextToken":${JSON.stringify(nextToken)},"TotalCount":${totalCount}}`,
    responses,
  )
}

/** A 200 response `{"Result":…}` with a result that the gateway has composed. */
export const result200 = (result: string, responses: readonly UpstreamResponse[]): Response => {
  const metadata = responses.length === 1 ? responses[0]?.json?.get('ResponseMetadata') : undefined
  const body = metadata ? `{"ResponseMetadata":${metadata.raw},"Result":${result}}` : `{"Result":${result}}`
  return noStoreText(body)
}
