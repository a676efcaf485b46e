import type { OwnedGroup } from '../../ownership/index.ts'
import { instantOf } from '../../pagination-normalizer/index.ts'
import { readId } from '../../shared/id.ts'
import { itemsOf } from '../../upstream-proxy/index.ts'
import type { Library } from '../routes/library.ts'

/** An asset with the name of a creation whose response was lost. */
export interface NamedAsset {
  readonly id: string
  /** Milliseconds since 1970. Undefined: the upstream has not said it. */
  readonly createdAt: number | undefined
}

/** Of the assets with one name, which are few. */
const maxPages = 20

/**
 * The assets of a group with exactly this name, newest first: what a creation has made whose response was lost, because
 * its name was recorded before the call.
 */
export async function* assetsNamed(
  { upstream }: Pick<Library, 'upstream'>,
  group: OwnedGroup,
  name: string,
  user: string,
): AsyncGenerator<NamedAsset, void> {
  const query = { groupType: group.type, groups: [group], sortBy: 'CreateTime', sortOrder: 'Desc' } as const
  let nextToken: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const paging = { maxResults: 100, nextToken }
    const response = await upstream.send({ action: 'ListAssets', query: { ...query, name, paging } }, { user })
    for (const item of itemsOf(response)) {
      if (item.get('Name')?.string() !== name || item.get('GroupId')?.string() !== group.id) continue
      const id = readId(item.get('Id')?.string())
      if (id !== undefined) yield { id, createdAt: instantOf(item.get('CreateTime')?.string()) }
    }
    nextToken = response.json?.get('Result')?.get('NextToken')?.string() || undefined
    if (nextToken === undefined) return
  }
}
