import type { SlottedAsset } from '../../../plugins/asset-library/index.ts'
import type { Mutant } from './fixture.ts'

/** Mutants of the gateway: each has one defect in how it keeps more assets than the upstream. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'an asset is created again from the original of another one': ({ store }) => {
    let before: SlottedAsset | undefined
    return {
      async claimSlot(claim) {
        const claimed = await store.claimSlot(claim)
        if (claimed.outcome !== 'claimed') return claimed
        const { asset } = claimed
        const other = before ?? asset
        before = asset
        return { ...claimed, asset: { ...asset, ...(other.original !== undefined && { original: other.original }) } }
      },
    }
  },

  'an asset that has lost its slot is missing from the list': ({ store }) => ({
    async listSlottedAssets(list) {
      const { assets, total } = await store.listSlottedAssets(list)
      return { assets: assets.filter(({ state }) => state === 'present'), total }
    },
  }),

  'the total counts the assets that have slots': ({ store }) => ({
    async listSlottedAssets(list) {
      const { assets } = await store.listSlottedAssets(list)
      const all = await store.listSlottedAssets({ ...list, limit: 1_000, offset: 0, after: undefined })
      return { assets, total: all.assets.filter(({ state }) => state === 'present').length }
    },
  }),

  'a detail has the id of the upstream': ({ store }) => ({
    async slottedAssets(ids) {
      const found = await store.slottedAssets(ids)
      return found.map((asset) => ({
        ...asset,
        ...(asset.status === 'Active' && { id: asset.upstreamId ?? asset.id }),
      }))
    },
  }),

  'a list has the ids of the upstream': ({ store }) => ({
    async listSlottedAssets(list) {
      const { assets, total } = await store.listSlottedAssets(list)
      return { assets: assets.map((asset) => ({ ...asset, id: asset.upstreamId ?? asset.id })), total }
    },
  }),

  'the id of the upstream is an id here': ({ store, emulator }) => ({
    slottedAssets: (ids) =>
      store.slottedAssets(ids.map((id) => emulator.library.asset(id)?.name.replace(/-\d+$/, '') ?? id)),
  }),

  'the own id of another user is accepted': ({ store, currentUser }) => ({
    async group(id, user) {
      const found = await store.group(id)
      return found && { ...found, user: user ?? currentUser() }
    },
  }),

  'what a request uses loses its slot': ({ store }) => ({
    async beginAssetUse(use) {
      const begun = await store.beginAssetUse(use)
      if (begun.isHeld) await store.endAssetUse(use.id)
      return begun
    },
  }),

  'a request gets the asset of another one': ({ store }) => {
    let before: string | undefined
    return {
      async beginAssetUse(use) {
        const { assets, isHeld } = await store.beginAssetUse(use)
        if (!isHeld) return { assets, isHeld }
        const [first, ...rest] = assets
        const upstreamId = before ?? first?.upstreamId
        before = first?.upstreamId
        return { assets: first ? [{ ...first, ...(upstreamId && { upstreamId }) }, ...rest] : [], isHeld }
      },
    }
  },

  'a deleted asset stays where it is': ({ store }) => ({
    removeSlottedAsset: async (id) => (await store.slottedAssets([id])).length > 0,
  }),

  'a request does not end': () => ({ endAssetUse: async () => {} }),
}
