import type { Group, LentGroupRecord, Share } from '../../../plugins/ownership/index.ts'
import type { Mutant, MutantContext } from '../fixture.ts'
import { retargeting } from '../mutants.ts'

/** Mutants of the gateway: each has one defect in how it lends groups. All are for the kind `rest`. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'every group is lent to everybody': ({ store }) => ({
    store: {
      ...store,
      groupsLentTo: async (user) => {
        const users = (await store.listUsers()).slice(-3)
        const groups = await Promise.all(users.map(({ id }) => store.groupsOf(id)))
        return groups.flat().flatMap((group) => (group.user === user ? [] : [{ ...group, access: 'read' as const }]))
      },
    },
  }),

  'what is lent to one user is lent to all': ({ store }) => ({
    store: {
      ...store,
      groupsLentTo: async (user, now) => {
        const users = (await store.listUsers()).slice(-3)
        const lent = await Promise.all(users.map(({ id }) => store.groupsLentTo(id, now)))
        return lent.flat().filter((group) => group.user !== user)
      },
    },
  }),

  'a revoked share remains': ({ store }) => ({ store: { ...store, revokeShare: async () => true } }),

  'a share does not expire': ({ store }) => ({
    store: {
      ...store,
      lendGroup: async (wanted) => {
        const share = await store.lendGroup({ ...wanted, expiresAt: undefined })
        return typeof share === 'string' ? share : withExpiry(share, wanted.expiresAt)
      },
      sharesOf: async (group, now) => store.sharesOf(group, now),
    },
  }),

  'what was lent once is cached for ever': ({ store }) => {
    const lent = new Map<string, readonly LentGroupRecord[]>()
    return {
      store: {
        ...store,
        groupsLentTo: async (user, now) => {
          const groups = [...(lent.get(user) ?? []), ...(await store.groupsLentTo(user, now))]
          lent.set(user, groups)
          return groups
        },
      },
    }
  },

  'a lent group counts as an own one': ({ store }) => ({
    store: {
      ...store,
      group: async (id, user) => {
        const lent = user === undefined ? undefined : await lentGroup({ store }, user, id)
        return lent && user !== undefined ? { ...lent, user } : store.group(id, user)
      },
    },
  }),

  'a list without a scope has lent groups': ({ store }) => ({
    store: {
      ...store,
      groupsOf: async (user, type) => {
        const lent = (await store.groupsLentTo(user, 0)).map(({ access, until, ...group }) => ({ ...group, user }))
        return [...(await store.groupsOf(user)), ...lent].filter((group) => type === undefined || group.type === type)
      },
    },
  }),

  'a borrower changes and deletes assets': (context) => ({
    around: (handle) => async (request) =>
      handle(/^(?:PATCH|PUT|DELETE)$/.test(request.method) ? await asOwner(context, request) : request),
  }),

  'a borrower lends on, and sees the shares': (context) => ({
    around: (handle) => async (request) =>
      handle(/\/shares/.test(request.url) ? await asOwner(context, request) : request),
  }),

  'GroupIds of lent groups need no scope': () => ({
    around: retargeting((url) => {
      if (url.searchParams.has('GroupIds')) url.searchParams.set('scope', 'all')
    }),
  }),

  'scope=all has lent groups only': () => ({
    around: retargeting((url) => {
      if (url.searchParams.get('scope') === 'all') url.searchParams.set('scope', 'shared')
    }),
  }),

  'TotalCount counts the items of a page': () => ({
    around: (handle) => async (request) => {
      const response = await handle(request)
      if (response.status !== 200 || !/scope=(?:all|shared)/.test(request.url)) return response
      const body = (await response.json()) as { Result: { Items: readonly unknown[] } }
      return Response.json({ ...body, Result: { ...body.Result, TotalCount: body.Result.Items.length } })
    },
  }),

  'a share of one group is revoked through another': ({ store }) => {
    const groups = new Map<string, { readonly id: string; readonly user: string }>()
    return {
      store: {
        ...store,
        lendGroup: async (wanted) => {
          const share = await store.lendGroup(wanted)
          if (typeof share !== 'string') groups.set(share.id, wanted.group)
          return share
        },
        revokeShare: (group, share) => store.revokeShare(groups.get(share) ?? group, share),
      },
    }
  },

  'a share outlives the disabling of its users': ({ store }) => ({
    store: {
      ...store,
      changeUser: async (id, change, options) =>
        change.disabled === undefined ? store.changeUser(id, change, options) : 'changed',
    },
  }),

  'who leaves a team keeps what it borrows': ({ store }) => ({
    store: {
      ...store,
      changeUser: async (id, change, options) =>
        change.team === null ? 'changed' : store.changeUser(id, change, options),
    },
  }),

  'a group is lent to the team of others': ({ store }) => ({
    store: {
      ...store,
      // As if the name of any team were enough.
      lendGroup: async (wanted) => {
        if ('user' in wanted.borrower) return store.lendGroup(wanted)
        const team = await store.teamByName(wanted.borrower.team)
        const share = await store.lendGroup(wanted)
        if (share !== 'no-borrower' || !team) return share
        return { id: crypto.randomUUID(), team: team.name, access: wanted.access, createdAt: wanted.now }
      },
    },
  }),

  'every share is for use': ({ store }) => ({
    store: { ...store, lendGroup: (wanted) => store.lendGroup({ ...wanted, access: 'use' }) },
  }),

  'an unknown borrower has another answer': () => ({
    around: (handle) => async (request) => {
      const response = await handle(request)
      const text = await response.text()
      return new Response(response.status === 404 ? text.replace('no such user or team', 'nobody') : text, response)
    },
  }),
}

const withExpiry = (share: Share, expiresAt: number | undefined): Share => ({
  ...share,
  ...(expiresAt !== undefined && { expiresAt }),
})

const lentGroup = async (
  { store }: Pick<MutantContext, 'store'>,
  user: string,
  id: string,
): Promise<Group | undefined> => {
  const lent = (await store.groupsLentTo(user, 0)).find((group) => group.id === id)
  if (!lent) return undefined
  const { access, until, ...group } = lent
  return group
}

/** The same request with the token of the owner of the group or asset, if the group is lent to the caller. */
const asOwner = async (context: MutantContext, request: Request): Promise<Request> => {
  const { emulator, tokenOf, store, userOf } = context
  const [, kind, id = ''] = /\/assets\/(groups\/)?([^/?]+)/.exec(new URL(request.url).pathname) ?? []
  const group = kind ? decodeURIComponent(id) : emulator.library.asset(decodeURIComponent(id))?.groupId
  const caller = userOf(request.headers.get('authorization'))
  const lent = group !== undefined && caller !== undefined ? await lentGroup(context, caller, group) : undefined
  const token = lent && tokenOf((await store.group(lent.id))?.user ?? '')
  const owned = new Request(request)
  if (token) owned.headers.set('authorization', `Bearer ${token}`)
  return owned
}
