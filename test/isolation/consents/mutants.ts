import type { LentGroupRecord } from '../../../plugins/ownership/index.ts'
import type { Consent } from '../../../plugins/shared/consent/store.ts'
import type { Store } from '../../../src/store/index.ts'
import type { Mutant } from '../fixture.ts'

/** Mutants of the gateway: each has one defect in the consents of persons. All are for the kind `rest`. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'a borrower has the consent of a lent group': ({ store, currentUser }) => ({
    store: {
      ...store,
      async consentOf(group) {
        const consent = await store.consentOf(group)
        const lent = await store.groupsLentTo(currentUser(), 0)
        return consent && lent.some(({ id }) => id === group) ? { ...consent, owner: currentUser() } : consent
      },
    },
  }),

  'every user has every consent': ({ store, currentUser }) => ({
    store: {
      ...store,
      async consentOf(group) {
        const consent = await store.consentOf(group)
        return consent && { ...consent, owner: currentUser() }
      },
    },
  }),

  'the consent of a group that is gone is lost': ({ store }) => ({
    store: {
      ...store,
      consentOf: async (group) => ((await store.group(group)) ? store.consentOf(group) : undefined),
    },
  }),

  'a group without a person has a consent': ({ store }) => ({
    store: {
      ...store,
      async consentOf(id) {
        const group = await store.group(id)
        return group ? ((await store.consentOf(id)) ?? { group: id, owner: group.user }) : store.consentOf(id)
      },
    },
  }),

  'a withdrawn consent is shown as active': ({ store }) => ({
    store: {
      ...store,
      async consentOf(group) {
        const consent = await store.consentOf(group)
        if (!consent) return undefined
        const { withdrawal, deletion, ...active } = consent
        return active
      },
    },
  }),

  'a withdrawal ends no share': ({ store }) => {
    const lent = new Map<string, readonly LentGroupRecord[]>()
    return {
      store: {
        ...store,
        async groupsLentTo(user, now) {
          const before = lent.get(user) ?? []
          const ended = await Promise.all(before.map(({ id }) => store.hasWithdrawn(id)))
          const groups = [...before.filter((_, nth) => ended[nth]), ...(await store.groupsLentTo(user, now))]
          lent.set(user, groups)
          return groups
        },
      },
    }
  },

  'a group is lent after the withdrawal': ({ store }) => ({
    store: {
      ...store,
      async lendGroup(wanted) {
        const share = await store.lendGroup(wanted)
        if (share !== 'no-group' || !(await store.hasWithdrawn(wanted.group.id))) return share
        return { id: crypto.randomUUID(), ...wanted.borrower, access: wanted.access, createdAt: wanted.now }
      },
    },
  }),

  'assets are added after the withdrawal': ({ store }) => ({ store: { ...store, hasWithdrawn: async () => false } }),

  'a withdrawal is not recorded': ({ store }) => ({
    store: { ...store, withdrawConsent: async () => undefined },
  }),

  'a deletion is not recorded': ({ store }) => ({
    store: { ...store, requestConsentDeletion: async () => undefined },
  }),

  'the uses of borrowers are missing': ({ store }) => ({
    store: {
      ...store,
      async consentUses(group, page) {
        const owner = (await store.consentOf(group))?.owner
        return (await store.consentUses(group, page)).filter(({ user }) => user === owner)
      },
    },
  }),

  'the uses of all groups are shown': ({ store }) => ({
    store: {
      ...store,
      async consentUses(_, page) {
        const uses = (await allConsents(store)).map(({ group }) => store.consentUses(group, page))
        return (await Promise.all(uses)).flat()
      },
    },
  }),

  'a link opens the consent of another person': ({ store }) => {
    const groups = new Map<string, string>()
    return {
      store: {
        ...store,
        addConsentLink(link) {
          groups.set(link.hash, link.group)
          return store.addConsentLink(link)
        },
        async consentByLink(hash) {
          const found = await store.consentByLink(hash)
          const other = [...groups.values()].find((group) => group !== found?.group)
          return found && other !== undefined ? { ...found, ...(await store.consentOf(other)) } : found
        },
      },
    }
  },

  'a wrong link opens a consent': ({ store }) => ({
    store: {
      ...store,
      consentByLink: async (hash) => (await store.consentByLink(hash)) ?? (await allConsents(store)).at(-1),
    },
  }),

  'who has made a link is not recorded': ({ store }) => ({
    store: { ...store, addConsentLink: (link) => store.addConsentLink({ ...link, madeBy: link.owner.slice(1) }) },
  }),

  'the act of a person counts as one of the owner': ({ store }) => ({
    store: {
      ...store,
      withdrawConsent: (consent, { at }) =>
        store.withdrawConsent(consent, { at, actor: { by: 'owner', user: consent.owner } }),
    },
  }),

  'what a text request continues shows nobody': ({ store }) => ({
    store: {
      ...store,
      async findTextObject(...query) {
        const found = await store.findTextObject(...query)
        return found && { ...found, persons: undefined }
      },
    },
  }),

  'a text response forgets the persons before it': ({ store }) => {
    const known = new Set<string>()
    return {
      store: {
        ...store,
        recordTextObjects(objects) {
          const recorded = objects.map((object) => ({
            ...object,
            persons: object.persons?.filter((person) => !known.has(person)),
          }))
          for (const { persons = [] } of objects) for (const person of persons) known.add(person)
          return store.recordTextObjects(recorded)
        },
      },
    }
  },

  'a group that was given back stays lent': ({ store }) => ({
    store: { ...store, returnGroup: async () => 'returned' as const },
  }),

  'who gives a group back ends it for all': ({ store }) => ({
    store: {
      ...store,
      async returnGroup(group, user) {
        for (const { id } of await store.sharesOf(group, 0)) await store.revokeShare(group, id)
        return store.returnGroup(group, user)
      },
    },
  }),
}

const allConsents = async (store: Store): Promise<readonly Consent[]> =>
  (await store.consentPage({}, { limit: 1_000 })).items
