import { type AnyElysia, Elysia } from 'elysia'
import type { Audit } from '../shared/audit.ts'
import { type Awaitable, isPromise } from '../shared/awaitable.ts'
import { createErrorHandler, type ErrorsOption, type GuardContext } from '../shared/http/error-handler.ts'
import { type Identify, type Identity, requireIdentity } from '../shared/identity/identify.ts'
import { checkCollaborator, checkElysia, checkIdentify } from '../shared/plugin/options.ts'
import type { MacroFunctions, MacroPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import type { Log } from '../shared/problem.ts'
import type { OwnedGroup } from './group-list.ts'
import type { OwnedAsset, Ownership, OwnershipOptions, ReadableAsset, ReadableGroup } from './ownership.ts'
import { createOwnership } from './rules.ts'

export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export { RevisionClock } from '../shared/identity/revision-clock.ts'
export type { OwnedId } from '../shared/owned-id.ts'
export { type ClaimEffect, type WithClaimOptions, withClaim } from './claim.ts'
export type { OwnedGroup } from './group-list.ts'
export type { LentGroup } from './lent-groups.ts'
export type * from './ownership.ts'
export { type FoundFrom, type ReconcileOptions, reconcile, reconcileRegularly } from './reconcile.ts'
export { createOwnership, isLent } from './rules.ts'
export type * from './share-store.ts'
export type { Claim, ClaimStore, Group, OwnershipStore, WantedClaim } from './store.ts'

/** The macros of `ownership`: their parameters, and what they add to the context. */
export type OwnershipMacros<Evidence> = {
  caller: { parameter: true; context: { user: string; owners: Ownership<Evidence> } }
  ownsGroup: { parameter: string; context: { user: string; owners: Ownership<Evidence>; group: OwnedGroup } }
  ownsAsset: { parameter: string; context: { user: string; owners: Ownership<Evidence>; asset: OwnedAsset<Evidence> } }
  locatesAsset: {
    parameter: string
    context: { user: string; owners: Ownership<Evidence>; asset: OwnedAsset<Evidence> }
  }
  readsGroup: { parameter: string; context: { user: string; owners: Ownership<Evidence>; group: ReadableGroup } }
  readsAsset: {
    parameter: string
    context: { user: string; owners: Ownership<Evidence>; asset: ReadableAsset<Evidence> }
  }
}

/** Options of the plugin `ownership`, beside those of `createOwnership` or its result. */
export interface OwnershipGuardOptions {
  /** Identifies the caller. */
  readonly identify: Identify
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  readonly log?: Log
  /** Receives an event for each use of a foreign or unknown id. Default: none. */
  readonly audit?: Audit
}

/**
 * Macros that protect routes by authentication and ownership.
 *
 * - `caller: true` requires an identified caller and adds `user`.
 * - `ownsGroup: 'param'` and `ownsAsset: 'param'` also check the id in that path parameter, and add `group` or `asset`.
 * - `locatesAsset: 'param'` does the same as `ownsAsset`, but always calls `locate`, and adds its evidence to `asset`.
 * - `readsGroup: 'param'` and `readsAsset: 'param'` also accept what is lent to the caller, for routes that change
 *   nothing. `readsAsset` always calls `locate`.
 *
 * A guard that rejects a request responds itself, whatever `onError` hooks the app has: 401, 403, and 500 if the store
 * fails. Pass `rules` to share one result of `createOwnership`. Throws TypeError without `identify`, and without
 * `store` or `rules`.
 *
 * Elysia ignores a macro's key on a route whose app does not use this plugin, and (1.4.30) after the key of another
 * macro that is switched off: in `{ caller: true, cached: false }` the guard must be first. So keep a test that checks
 * all `app.routes`.
 *
 * @example
 * const guarded = ownership({ store, identify, locate: async (asset) => ({ group: 'group-1', evidence: asset }) })
 * new Elysia().use(guarded).get('/groups/:id', ({ group }) => group.id, { ownsGroup: 'id' })
 */
export const ownership = <Evidence>(
  options: (OwnershipOptions<Evidence> | { readonly rules: Ownership<Evidence> }) & OwnershipGuardOptions,
): MacroPlugin<OwnershipMacros<Evidence>> => {
  checkElysia(Elysia)
  checkIdentify(options.identify)
  const { stop } = createErrorHandler(options)
  if ('rules' in options) checkCollaborator('rules', options.rules)
  const rules = 'rules' in options ? options.rules : createOwnership(options)
  const identify = (request: Request): Awaitable<Identity> => requireIdentity(options.identify, request)
  /** A guard with an id in a path parameter: what `find` proves about it is added to the context under this name. */
  const guard =
    <const Name extends string, Found>(
      name: Name,
      find: (user: string, id: unknown, request: Request) => Promise<Found>,
    ) =>
    (param: string) => ({
      // The names are spelled out, because Elysia reads them in the source of a hook.
      resolve: async ({ request, params, set, status }: GuardContext & { readonly params: unknown }) => {
        try {
          const identity = identify(request)
          const { user } = isPromise(identity) ? await identity : identity
          const found = await find(user, pathParameter(params, param), request)
          return { user, owners: rules, [name]: found } as { user: string; owners: typeof rules } & Record<Name, Found>
        } catch (error) {
          return stop(error, { request, set, status })
        }
      },
    })
  const plugin: AnyElysia = new Elysia({ name: 'sluice/ownership', seed: seedOf(options) }).macro({
    caller: (_required: true) => ({
      resolve: async ({ request, set, status }) => {
        try {
          const identity = identify(request)
          const { user } = isPromise(identity) ? await identity : identity
          return { user, owners: rules }
        } catch (error) {
          return stop(error, { request, set, status })
        }
      },
    }),
    ownsGroup: guard('group', (user, id) => rules.group(user, id)),
    ownsAsset: guard('asset', (user, id, request) => rules.asset(user, id, request)),
    locatesAsset: guard('asset', (user, id, request) => rules.locateAsset(user, id, request)),
    readsGroup: guard('group', (user, id) => rules.readableGroup(user, id)),
    readsAsset: guard('asset', (user, id, request) => rules.readableAsset(user, id, request)),
  } satisfies MacroFunctions<OwnershipMacros<Evidence>>)
  return plugin
}

const pathParameter = (params: unknown, name: string): unknown =>
  (params as Record<string, unknown> | undefined)?.[name]
