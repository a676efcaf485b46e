import type { Page } from '../../plugins/pagination-normalizer/index.ts'
import type { Json } from '../../plugins/shared/json.ts'
import { responseOf } from '../../plugins/shared/known-body.ts'
import type { UpstreamResponse } from '../../plugins/upstream-proxy/index.ts'

/** "List envelope". Items are written as the upstream wrote them. Its `ResponseMetadata` is kept when there was exactly one answer to keep it of. */
export const envelope = <Item>(
  { items, nextToken, totalCount }: Page<Item>,
  written: (item: Item) => Json,
  answers: readonly UpstreamResponse[],
): Response => {
  const texts = items.map((item) => written(item).raw).join(',')
  return result200(`{"Items":[${texts}],"NextToken":${JSON.stringify(nextToken)},"TotalCount":${totalCount}}`, answers)
}

/** `{"Result":…}` around a result that the gateway put together. */
export const result200 = (result: string, answers: readonly UpstreamResponse[]): Response => {
  const metadata = answers.length === 1 ? answers[0]?.json?.get('ResponseMetadata') : undefined
  const body = metadata ? `{"ResponseMetadata":${metadata.raw},"Result":${result}}` : `{"Result":${result}}`
  return responseOf(body, { headers: { 'content-type': 'application/json' } })
}
