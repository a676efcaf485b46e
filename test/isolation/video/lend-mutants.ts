import type { LentGroupRecord } from '../../../plugins/ownership/index.ts'
import type { Store } from '../../../src/store/index.ts'
import type { Mutant } from './fixture.ts'
import { changed } from './mutants.ts'

const usable = (groups: readonly LentGroupRecord[]): readonly LentGroupRecord[] =>
  groups.map((group) => ({ ...group, access: 'use' }))

const used: Store['recordGroupUse'] = async () => true

/** Mutants of the gateway: each has one defect in how video tasks use lent assets. */
export const lendMutants: Readonly<Record<string, Mutant>> = {
  'a task that waits outlives its share': ({ store }) => ({ store: changed(store, { recordGroupUse: used }) }),

  'an asset that is lent to be read can be used': ({ store }) => ({
    store: changed(store, {
      recordGroupUse: used,
      groupsLentTo: async (...given) => usable(await store.groupsLentTo(...given)),
    }),
  }),

  'a share serves new tasks for ever': ({ store }) => {
    const lent = new Map<string, readonly LentGroupRecord[]>()
    return {
      store: changed(store, {
        recordGroupUse: used,
        async groupsLentTo(user, now) {
          const groups = [...(lent.get(user) ?? []), ...(await store.groupsLentTo(user, now))]
          lent.set(user, groups)
          return groups
        },
      }),
    }
  },

  'a video of a draft needs no share': ({ store }) => ({
    store: changed(store, {
      async videoTask(user, id) {
        const task = await store.videoTask(user, id)
        if (!task) return undefined
        const { lentGroups, ...fields } = JSON.parse(task.fields)
        return { ...task, fields: JSON.stringify(fields) }
      },
    }),
  }),
}
