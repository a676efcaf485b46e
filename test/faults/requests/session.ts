import { randomUUID } from 'node:crypto'
import { newWebhook, webhookOf } from '../browsing.ts'
import { newCookie, newPerson, newToken, newUser } from '../world.ts'
import type { MakeRequest, Requests } from './request.ts'

const person =
  (path: string, body?: object): MakeRequest =>
  () => ({ as: 'session', path, ...(body && { body }) })

const ownToken =
  (action = ''): MakeRequest =>
  async (world) => ({ as: 'session', path: `/api/tokens/${await newToken(world, world.ids.session)}${action}` })

/** Requests of a person with a browser. */
export const sessionRequests: Requests = {
  'GET /api/session': person('/api/session'),
  'DELETE /api/session': async (world) => ({
    ...{ as: 'session', path: '/api/session', headers: { cookie: await newPerson(world) } },
  }),
  'GET /api/account': person('/api/account'),
  'PATCH /api/account': async ({ store, ids }) => ({
    ...{ as: 'session', path: '/api/account', about: (await store.account(ids.session))?.password },
    body: { current_password: 'correct horse', password: 'correct horse' },
  }),
  'GET /api/account/sessions': person('/api/account/sessions'),
  'DELETE /api/account/sessions': async (world) => {
    const user = await newUser(world)
    const [cookie, about] = [await newCookie(world, user), await newCookie(world, user)]
    return { as: 'session', path: '/api/account/sessions', headers: { cookie }, about }
  },
  'DELETE /api/account/sessions/{}': async ({ store, ids }) => {
    const [hash, id, now] = [randomUUID(), randomUUID(), Date.now()]
    const session = {
      hash,
      id,
      user: ids.session,
      name: 'pia',
      createdAt: now,
      idleUntil: now + 1e7,
      endsAt: now + 1e7,
    }
    const account = await store.account(ids.session)
    await store.addSession({ ...session, password: account?.password })
    return { as: 'session', path: `/api/account/sessions/${id}` }
  },
  'GET /api/tokens': person('/api/tokens'),
  'POST /api/tokens': person('/api/tokens', {}),
  'DELETE /api/tokens/{}': ownToken(),
  'POST /api/tokens/{}/rotate': async (world) => ({ ...(await ownToken('/rotate')(world)), body: {} }),
  'GET /api/usage': person('/api/usage'),
  'GET /api/webhooks': person('/api/webhooks'),
  'POST /api/webhooks': async (world) => ({
    ...{ as: 'session', path: '/api/webhooks', body: webhookOf(world.emulator) },
    // There is a maximum for each person.
    headers: { cookie: await newPerson(world) },
  }),
  'DELETE /api/webhooks/{}': async (world) => {
    const headers = { cookie: await newPerson(world) }
    return { as: 'session', path: `/api/webhooks/${await newWebhook(world, headers)}`, headers }
  },
  'POST /api/media/face-verifications': person('/api/media/face-verifications', {}),
  'GET /api/media/face-verifications/{}': ({ known }) => ({
    ...{ as: 'session', path: `/api/media/face-verifications/${known.verification}` },
  }),
}
