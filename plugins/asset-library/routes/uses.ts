import type { OwnedAsset, OwnedGroup } from '../../ownership/index.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'
import { identityOf } from '../../shared/identity/identify.ts'
import { requireScope } from '../../shared/identity/require-scope.ts'
import { composeArray, composeObject, toJson } from '../../shared/json/json.ts'
import type { AssetUses } from '../../shared/media/asset-uses.ts'
import { result200 } from '../lists/envelope.ts'
import { readPageRequest } from '../lists/page-request.ts'
import type { Evidence } from './library.ts'

interface AssetContext {
  readonly request: Request
  readonly user: string
  readonly asset: OwnedAsset<Evidence>
}

/** Tasks have results: a token that must not read them elsewhere does not read them here. */
const requireVideoScope = requireScope('video', identityOf)

/** `GET /assets/{id}/uses`: the video tasks of the caller that use the asset, newest first. */
export const listUses =
  (usesOf: () => AssetUses) =>
  async ({ request, user, asset }: AssetContext): Promise<Response> => {
    await requireVideoScope(request)

    const uses = usesOf()
    const page = readPageRequest(new URL(request.url).searchParams)
    const [{ tasks, next = '' }, { total, waiting }] = await Promise.all([
      uses.tasks(user, asset.id, page),
      uses.count(user, { asset: asset.id }),
    ])
    const result = composeObject({
      Items: composeArray(tasks),
      NextToken: toJson(next),
      TotalCount: toJson(total),
      WaitingCount: toJson(waiting),
    })
    return result200(result.raw, [])
  }

/** `GET /assets/groups/{id}/uses`: how many video tasks of the caller use an asset of the group. */
export const countGroupUses =
  (usesOf: () => AssetUses) =>
  async ({ user, group }: { readonly user: string; readonly group: OwnedGroup }): Promise<Response> => {
    const { total, waiting } = await usesOf().count(user, { group: group.id })
    return noStoreJson({ Result: { TotalCount: total, WaitingCount: waiting } })
  }
