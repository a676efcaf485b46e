import { password } from '../../server/fixture.ts'
import { newReturn } from '../browsing.ts'
import { newConsentLink, newFace, newInvitation, newUser, newVideo, upstreamTaskOf } from '../world.ts'
import type { MakeRequest, Requests } from './request.ts'

const nobody =
  (path: string): MakeRequest =>
  () => ({ as: 'nobody', path })

const consent =
  (action: string): MakeRequest =>
  async (world) => {
    const about = await newFace(world)
    const path = `/api/media/face-verifications/consent/${await newConsentLink(world, about)}${action}`
    return { as: 'nobody', path, about }
  }

/** Requests without a credential, or with one in their path. */
export const openRequests: Requests = {
  'GET /healthz': nobody('/healthz'),
  'GET /readyz': nobody('/readyz'),
  'GET /metrics': () => ({ as: 'nobody', path: '/metrics', headers: { authorization: 'Bearer token-of-metrics' } }),
  'GET /openapi/json': nobody('/openapi/json'),
  'GET /api/failure-advice': nobody('/api/failure-advice'),
  'GET /api/failure-advice/{}': nobody('/api/failure-advice/OutputVideoSensitiveContentDetected'),
  'GET /api/files/{}/{}': ({ known }) => ({ as: 'nobody', path: known.file }),
  'POST /api/session': () => ({ as: 'nobody', path: '/api/session', body: { name: 'lena', password } }),
  'GET /api/session/oidc': nobody('/api/session/oidc'),
  'GET /api/session/oidc/callback': newReturn,
  'GET /api/invitations/{}': async (world) => ({
    as: 'nobody',
    path: `/api/invitations/${await newInvitation(world, await newUser(world))}`,
  }),
  'POST /api/invitations/{}': async (world) => {
    const about = await newUser(world)
    const path = `/api/invitations/${await newInvitation(world, about)}`
    return { as: 'nobody', path, about, body: { password: 'a long enough password' } }
  },
  'GET /api/media/face-verifications/callback/{}': ({ known }) => ({ as: 'nobody', path: known.callback }),
  'GET /api/media/face-verifications/consent-keys': nobody('/api/media/face-verifications/consent-keys'),
  'GET /api/media/face-verifications/consent/{}': consent(''),
  'GET /api/media/face-verifications/consent/{}/export': consent('/export'),
  'POST /api/media/face-verifications/consent/{}/withdraw': consent('/withdraw'),
  'POST /api/media/face-verifications/consent/{}/delete': consent('/delete'),
  'POST /api/v3/contents/generations/callbacks/{}/{}': async (world) => {
    const { request } = await upstreamTaskOf(world, await newVideo(world))
    const { pathname } = new URL(request.callbackUrl ?? '')
    return { as: 'nobody', path: pathname, body: { id: 'x', status: 'running' } }
  },
}
