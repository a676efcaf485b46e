import { Elysia } from 'elysia'
import { apiToken } from 'sluice/api-token'
import { type Identify, ownership } from 'sluice/ownership'
import { paginationNormalizer } from 'sluice/pagination-normalizer'
import { textGeneration } from 'sluice/text-generation'
import { webSession } from 'sluice/web-session'

/** Whether `identify` returns at once or later (a promise) that the caller is unknown. */
export type Moment = 'at once' | 'late'

/** A host app with a route behind each guarding macro. Every caller is unknown. `ran` is called when a handler runs. */
export const guardedHost = (moment: Moment, ran: (route: string) => void) => {
  const unknown: Identify = () => (moment === 'late' ? later() : undefined)
  const later = async () => {
    await new Promise((resolve) => setTimeout(resolve))
    return undefined
  }
  const handler = ({ route }: { route: string }) => {
    ran(route)
    return 'ran'
  }
  const owners = {
    group: later,
    groupsOf: async () => [],
    groupOfAsset: later,
    recordAsset: later,
    removeGroup: later,
    describeGroup: later,
    dateGroups: later,
    revision: async () => 1,
  }
  const sessions = {
    userByName: later,
    addSession: async () => false,
    session: later,
    touchSession: later,
    endSession: later,
    takeAttempt: later,
    revertAttempt: later,
  }
  return new Elysia()
    .use(apiToken({ store: { ownerOf: later, revision: async () => 1 } }))
    .use(ownership({ store: owners, identify: unknown }))
    .use(paginationNormalizer({ secrets: ['page-secret, a secret of the tests'], identify: unknown }))
    .use(textGeneration({ upstreams: [{ url: 'http://upstream.invalid/v1' }], identify: unknown }))
    .use(
      webSession({
        store: sessions,
        publicUrl: 'https://sluice.example',
        secrets: ['session-secret, a secret of the tests'],
      }),
    )
    .get('/token', handler, { token: true })
    .get('/caller', handler, { caller: true })
    .get('/groups/:group', handler, { ownsGroup: 'group' })
    .get('/assets/:asset', handler, { ownsAsset: 'asset' })
    .get('/examined/:asset', handler, { locatesAsset: 'asset' })
    .get('/session', handler, { session: true })
}
