import type { ListRequest, Search } from '../../pagination-normalizer/index.ts'
import { nameKey } from '../../shared/identity/name-key.ts'
import type { AssetRow } from './asset-sources.ts'
import { memoize } from './memoize.ts'

/**
 * Maximum number of assets that one search reads: 200 calls of the upstream. Their names and types are not in the
 * gateway's records, and may change at the upstream.
 */
const maxSearchedAssets = 20_000

/** Whether a name contains a part, without regard to case and to compatibility variants. */
export const nameContains = <Item>(part: string, nameOf: (item: Item) => string): ((item: Item) => boolean) => {
  const wanted = nameKey(part)
  return (item) => nameKey(nameOf(item)).includes(wanted)
}

/**
 * What `NameContains` and `AssetTypes` select. Undefined without them.
 *
 * The upstream matches names loosely in a way that is not documented, so it cannot narrow the list.
 */
export const assetSearch = ({ filter }: Pick<ListRequest, 'filter'>): Search<AssetRow> | undefined => {
  const { Name: name, NameContains: part, AssetTypes: types } = filter
  if (part === undefined && types === undefined) return undefined
  const wanted = part === undefined ? undefined : nameKey(String(part))
  return {
    filters: ['NameContains', 'AssetTypes'],
    maxRows: maxSearchedAssets,
    matches: (row) =>
      (name === undefined || row.item.get('Name')?.string() === name) &&
      (wanted === undefined || keyOf(row).includes(wanted)) &&
      (types === undefined || types.includes(row.item.get('AssetType')?.string() ?? '')),
  }
}

/** Computed once for each row: rows are cached while a user types. */
const keyOf = memoize(({ item }: AssetRow) => nameKey(item.get('Name')?.string() ?? ''))
