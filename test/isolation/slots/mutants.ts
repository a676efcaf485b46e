import type { SlottedAsset } from '../../../plugins/asset-library/index.ts'
import { type Mutant, upstreamAsset } from './fixture.ts'

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

  'the id of the upstream is an id here': ({ store, accounts }) => ({
    slottedAssets: (ids) =>
      store.slottedAssets(ids.map((id) => upstreamAsset(accounts, id)?.name.replace(/-\d+$/, '') ?? id)),
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

  'a rename is forgotten': () => ({ renameSlottedAsset: async () => {} }),

  'a rename reaches the other assets of the group': ({ store }) => ({
    async renameSlottedAsset(id, name, now) {
      const [renamed] = await store.slottedAssets([id])
      const list = { groups: [renamed?.group ?? ''], sortBy: 'CreateTime', descending: false, limit: 100 } as const
      for (const { id } of (await store.listSlottedAssets(list)).assets) await store.renameSlottedAsset(id, name, now)
    },
  }),

  'an asset has its first name again when it is created again': ({ store }) => {
    const first = new Map<string, string>()
    return {
      async addSlottedAsset(asset) {
        first.set(asset.id, asset.name)
        return store.addSlottedAsset(asset)
      },
      async claimSlot(claim) {
        const claimed = await store.claimSlot(claim)
        const name = first.get(claim.id)
        if (claimed.outcome === 'claimed' && name !== undefined)
          await store.renameSlottedAsset(claim.id, name, claim.now)
        return claimed
      },
    }
  },

  'a list by name finds the name of before': ({ store }) => {
    const before = new Map<string, string>()
    return {
      async renameSlottedAsset(id, name, now) {
        const [asset] = await store.slottedAssets([id])
        before.set(id, asset?.name ?? '')
        await store.renameSlottedAsset(id, name, now)
      },
      async listSlottedAssets({ name, ...list }) {
        if (name === undefined) return store.listSlottedAssets(list)
        const { assets } = await store.listSlottedAssets({ ...list, limit: 1_000, offset: 0, after: undefined })
        const found = assets.filter((asset) => (before.get(asset.id) ?? asset.name) === name)
        return { assets: found, total: found.length }
      },
    }
  },

  'a rename does not change the time of the update': ({ store }) => ({
    async renameSlottedAsset(id, name) {
      const [asset] = await store.slottedAssets([id])
      await store.renameSlottedAsset(id, name, asset?.updatedAt ?? 0)
    },
  }),

  'an asset of another account loses its slot': ({ store, accounts }) => ({
    async claimSlot(claim) {
      const other = accounts.find(({ slotAccount }) => slotAccount.key !== claim.account.key)
      const claimed = await store.claimSlot(claim)
      if (claimed.outcome !== 'evict' || !other) return claimed
      const { now, leaseUntil } = claim
      const victim = await store.claimVictim({ user: '', account: other.slotAccount, floor: 0, now, leaseUntil })
      return victim ? { outcome: 'evict', victim } : { outcome: 'full' }
    },
  }),

  'the slots of all accounts are counted together': ({ store, accounts }) => ({
    async claimSlot(claim) {
      const others = accounts.filter(({ slotAccount }) => slotAccount.key !== claim.account.key)
      let { slots } = claim
      for (const { slotAccount } of others) slots -= (await store.countSlots(slotAccount, claim.now)).used
      return store.claimSlot({ ...claim, slots })
    },
  }),

  'an asset is created again on another account': ({ store, accounts }) => ({
    async slottedAssets(ids) {
      const found = await store.slottedAssets(ids)
      return found.map((asset) => {
        const other = accounts.find(({ slotAccount }) => slotAccount.key !== asset.account)
        return asset.state === 'absent' && other ? { ...asset, account: other.slotAccount.key } : asset
      })
    },
  }),
}
