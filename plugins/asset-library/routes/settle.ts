import type { Settlement } from '../../idempotency/index.ts'
import type { OwnedGroup } from '../../ownership/index.ts'
import { instantOf } from '../../pagination-normalizer/index.ts'
import { withInertHeaders } from '../../shared/http/headers.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'
import { readId } from '../../shared/id.ts'
import { type Caller, itemsOf } from '../../upstream-proxy/index.ts'
import type { Library } from './library.ts'

// A process may die while it creates a group or an asset, and a response of the upstream may be lost. The next request
// with the same Idempotency-Key finds out here what has become of the creation.

/**
 * The claim on the name of the group tells it: reconciliation asks the upstream, and confirms or releases the claim.
 */
export const settleGroup = async ({ claims }: Pick<Library, 'claims'>, claim: string): Promise<Settlement> => {
  const outcome = await claims.claimOutcome(claim)
  if (outcome === undefined) return { outcome: 'none' }
  return outcome === 'open'
    ? { outcome: 'unknown', retryAfterSeconds: 2 }
    : { outcome: 'created', response: createdResponse(outcome.group) }
}

/** The response of an upstream to a creation, without its metadata. */
const createdResponse = (id: string): Response => withInertHeaders(noStoreJson({ Result: { Id: id } }))

/**
 * An asset has no name that must be unique, and the upstream takes no mark of ours. So only its absence is certain: no
 * asset of that time is in the group but those that were reported to their callers. Any other asset may be the one, or
 * one of a request without a key: the outcome stays unknown.
 */
export const settleAsset = async (
  { upstream, assets, claimMs, clock, log }: Pick<Library, 'upstream' | 'assets' | 'claimMs' | 'clock' | 'log'>,
  group: OwnedGroup,
  startedAt: number,
  caller: Caller,
): Promise<Settlement> => {
  const remainingMs = startedAt + claimMs - clock.now()
  if (remainingMs > 0) return { outcome: 'unknown', retryAfterSeconds: remainingMs / 1000 }
  const query = { groupType: group.type, groups: [group], sortBy: 'CreateTime', sortOrder: 'Desc' } as const
  let nextToken: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const paging = { maxResults: 100, nextToken }
    const response = await upstream.send({ action: 'ListAssets', query: { ...query, paging } }, caller)
    const items = itemsOf(response)
    const recent = items.filter((item) => {
      const createdAt = instantOf(item.get('CreateTime')?.string())
      return createdAt === undefined || createdAt >= startedAt - skewMs
    })
    for (const item of recent) {
      const id = readId(item.get('Id')?.string())
      if (id !== undefined && (await assets.groupOfAsset(id)) !== undefined) continue
      log.warn({ group: group.id, asset: id }, 'an asset may be the result of a creation whose response was lost')
      return { outcome: 'unknown' }
    }
    nextToken = response.json?.get('Result')?.get('NextToken')?.string() || undefined
    if (nextToken === undefined || (items.length > 0 && recent.length === 0)) return { outcome: 'none' }
  }
  return { outcome: 'unknown' }
}

/** Maximum clock skew of the upstream, in milliseconds. */
const skewMs = 300_000

const maxPages = 20
