import { Elysia } from 'elysia'
import type { Awaitable } from '../shared/awaitable.ts'
import { type Identify, type Identity, requireIdentity } from '../shared/identify.ts'
import { seedOf } from '../shared/seed.ts'
import { createOwnership, type Ownership, type OwnershipOptions } from './rules.ts'

export type { Identify, Identity } from '../shared/identify.ts'
export type { OwnedId } from '../shared/owned-id.ts'
export { RevisionClock } from '../shared/revision-cache.ts'
export { type ClaimEffect, type WithClaimOptions, withClaim } from './claim.ts'
export { type ReconcileOptions, reconcile, reconcileRegularly } from './reconcile.ts'
export {
  type AssetCaller,
  type AssetLocation,
  createOwnership,
  type OwnedAsset,
  type OwnedGroup,
  type Ownership,
  type OwnershipOptions,
} from './rules.ts'
export type { Claim, ClaimStore, Group, OwnershipStore } from './store.ts'

/**
 * Macros that protect routes by authentication and ownership.
 *
 * - `caller: true` requires an identified caller and adds `user`.
 * - `ownsGroup: 'param'` and `ownsAsset: 'param'` also check the id in that path parameter, and add `group` or `asset`.
 * - `locatesAsset: 'param'` does the same as `ownsAsset`, but always calls `locate`, and adds its evidence to `asset`.
 *
 * Errors render themselves: 401, 403, and 500 if the store fails. Pass `rules` to share one result of `createOwnership`.
 *
 * Elysia ignores a macro's key on a route whose app does not use this plugin. So keep a test that checks all `app.routes`.
 */
export const ownership = <Evidence>(
  options: (OwnershipOptions<Evidence> | { readonly rules: Ownership<Evidence> }) & { readonly identify: Identify },
) => {
  const rules = 'rules' in options ? options.rules : createOwnership(options)
  const identify = (request: Request): Awaitable<Identity> => requireIdentity(options.identify, request)
  return new Elysia({ name: 'sluice/ownership', seed: seedOf(options) }).macro({
    caller: (_required: true) => ({
      resolve: async ({ request }) => {
        const { user } = await identify(request)
        return { user, owners: rules }
      },
    }),
    ownsGroup: (param: string) => ({
      resolve: async ({ request, params }) => {
        const { user } = await identify(request)
        return { user, owners: rules, group: await rules.group(user, pathParameter(params, param)) }
      },
    }),
    ownsAsset: (param: string) => ({
      resolve: async ({ request, params }) => {
        const { user } = await identify(request)
        return { user, owners: rules, asset: await rules.asset(user, pathParameter(params, param), request) }
      },
    }),
    locatesAsset: (param: string) => ({
      resolve: async ({ request, params }) => {
        const { user } = await identify(request)
        return { user, owners: rules, asset: await rules.locateAsset(user, pathParameter(params, param), request) }
      },
    }),
  })
}

const pathParameter = (params: unknown, name: string): unknown =>
  (params as Record<string, unknown> | undefined)?.[name]
