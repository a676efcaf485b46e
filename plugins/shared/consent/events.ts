import type { ConsentActor } from './store.ts'

/** The event of a consent that was withdrawn, or about which everything was deleted. `data` is a JSON object. */
export const consentEvent = (
  group: string,
  state: 'withdrawn' | 'deleted',
  actor?: ConsentActor,
): { readonly type: `consent.${typeof state}`; readonly data: string } => ({
  type: `consent.${state}`,
  data: JSON.stringify({ group_id: group, state, by: actor?.by }),
})
