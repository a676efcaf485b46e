import { Elysia } from 'elysia'
import { apiToken } from 'sluice/api-token'
import { type Identify, ownership } from 'sluice/ownership'
import { paginationNormalizer } from 'sluice/pagination-normalizer'
import { textGeneration } from 'sluice/text-generation'
import { webSession } from 'sluice/web-session'

/** How long it takes to find out that nobody is known. */
export type Moment = 'at once' | 'late'

/** A host app with a route behind each macro that guards, which knows nobody. `ran` is told when a handler has been let run. */
export const guardedHost = (moment: Moment, ran: (route: string) => void) => {
  const nobody: Identify = () => (moment === 'late' ? later() : undefined)
  const later = async () => {
    await new Promise((resolve) => setTimeout(resolve))
    return undefined
  }
  const answer = ({ route }: { route: string }) => {
    ran(route)
    return 'let in'
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
    returnAttempt: later,
  }
  return new Elysia()
    .use(apiToken({ store: { ownerOf: later, revision: async () => 1 } }))
    .use(ownership({ store: owners, identify: nobody }))
    .use(paginationNormalizer({ secrets: ['page-secret'], identify: nobody }))
    .use(textGeneration({ upstreams: [{ url: 'http://upstream.invalid/v1' }], identify: nobody }))
    .use(webSession({ store: sessions, publicUrl: 'https://sluice.example', secrets: ['session-secret'] }))
    .get('/token', answer, { token: true })
    .get('/caller', answer, { caller: true })
    .get('/groups/:group', answer, { ownsGroup: 'group' })
    .get('/assets/:asset', answer, { ownsAsset: 'asset' })
    .get('/examined/:asset', answer, { examinesAsset: 'asset' })
    .get('/session', answer, { session: true })
}
