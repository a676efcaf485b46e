import { Elysia } from 'elysia'
import { apiToken, type ConsoleTokensOptions, consoleTokens } from '../../plugins/api-token/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { identifyBySession, webSession } from '../../plugins/web-session/index.ts'
import { readRevision } from '../../src/store/database/revision.ts'
import { openFixture, publicUrl, sameOrigin } from '../web-session/fixture.ts'

export const path = '/api/tokens'

/** An app with sessions, tokens and a route behind them. Ann and bob have logged in. */
export const openTokenFixture = async (options: Partial<ConsoleTokensOptions> = {}) => {
  const fixture = await openFixture()
  const bob = await fixture.addUser('bob', 'right')
  const tokens = { ...fixture.store, revision: () => readRevision(fixture.database) }
  const app = new Elysia()
    .use(webSession(fixture.options))
    .use(
      consoleTokens({
        store: fixture.store,
        identify: identifyBySession(fixture.options),
        publicUrl,
        clock: fixture.options.clock,
        ...options,
      }),
    )
    .use(apiToken({ store: tokens, clock: { ...systemClock, ...fixture.options.clock } }))
    .get('/asset', ({ identity }) => identity.user, { token: true })
  const as = async (name: string) => ({ cookie: (await fixture.login(name)).cookie, ...sameOrigin })
  return { ...fixture, app, bob, asAnn: await as('ann'), asBob: await as('bob') }
}
