import type { Consent, ConsentAct } from '../../../plugins/shared/consent/store.ts'
import type { Mutant } from './fixture.ts'
import { changed } from './mutants.ts'

/** Mutants of the gateway: each has one defect in how video tasks need the consents of persons. */
export const consentMutants: Readonly<Record<string, Mutant>> = {
  'a new task needs no consent': ({ store }) => ({ store: changed(store, { hasWithdrawn: async () => false }) }),

  'a task that waits outlives the consent': ({ store }) => {
    const acts = new Map<string, ConsentAct>()
    return {
      // Only new requests are checked.
      store: changed(store, {
        recordConsentUse: async () => true,
        hasWithdrawn: async (group) => acts.has(group),
        async withdrawConsent({ group }, act) {
          acts.set(group, act)
        },
        async consentOf(group): Promise<Consent | undefined> {
          const [consent, withdrawal] = [await store.consentOf(group), acts.get(group)]
          return consent && { ...consent, ...(withdrawal && { withdrawal }) }
        },
        lendGroup: async (wanted) => (acts.has(wanted.group.id) ? 'no-group' : store.lendGroup(wanted)),
        recordGroupUse: async (user, group, now) => acts.has(group) || store.recordGroupUse(user, group, now),
        groupsLentTo: async (user, now) => (await store.groupsLentTo(user, now)).filter(({ id }) => !acts.has(id)),
      }),
    }
  },

  'a video of a draft needs no consent': ({ store }) => ({
    store: changed(store, {
      async videoTask(user, id) {
        const task = await store.videoTask(user, id)
        if (!task) return undefined
        const { persons, ...fields } = JSON.parse(task.fields)
        return { ...task, fields: JSON.stringify(fields) }
      },
    }),
  }),
}
