import {
  type FaultWorld,
  newBatch,
  newClaim,
  newCookie,
  newFace,
  newName,
  newOperator,
  newTeam,
  newToken,
  newUndecidedVideo,
  newUser,
} from '../world.ts'
import type { MakeRequest, Requests } from './request.ts'

const base = '/api/admin'

const to =
  (path: string | ((world: FaultWorld) => string | Promise<string>), body?: () => unknown): MakeRequest =>
  async (world) => ({
    ...{ as: 'admin', path: base + (typeof path === 'string' ? path : await path(world)) },
    ...(body && { body: body() }),
  })

const ofUser =
  (rest = '') =>
  ({ known }: FaultWorld) =>
    `/users/${known.user}${rest}`
const newUserPath =
  (rest = '') =>
  async (world: FaultWorld) =>
    `/users/${await newUser(world)}${rest}`
const newTokenPath =
  (rest = '') =>
  async (world: FaultWorld) =>
    `/tokens/${await newToken(world, await newUser(world))}${rest}`
const newTeamPath = async (world: FaultWorld) => `/teams/${await newTeam(world)}`
const newFacePath = (rest: string) => async (world: FaultWorld) => `/consents/${await newFace(world)}${rest}`
const named = () => ({ name: newName() })

/** Requests of operators. */
export const adminRequests: Requests = Object.fromEntries(
  Object.entries({
    'GET /users': to('/users'),
    'POST /users': to('/users', named),
    'POST /users/import': () => ({
      ...{ as: 'admin', path: `${base}/users/import`, headers: { 'content-type': 'text/csv' } },
      body: `name\n${newName()}\n`,
    }),
    'GET /users/{}': to(ofUser()),
    'PATCH /users/{}': to(newUserPath(), named),
    'POST /users/{}/invitation': to(newUserPath('/invitation')),
    'DELETE /users/{}/sessions': async (world) => {
      const user = await newUser(world)
      return { as: 'admin', path: `${base}/users/${user}/sessions`, about: await newCookie(world, user) }
    },
    'GET /users/{}/limits': to(ofUser('/limits')),
    'GET /users/{}/tokens': to(ofUser('/tokens')),
    'POST /users/{}/tokens': to(newUserPath('/tokens'), () => ({})),
    'GET /teams': to('/teams'),
    'POST /teams': to('/teams', named),
    'PATCH /teams/{}': to(newTeamPath, named),
    'DELETE /teams/{}': to(newTeamPath),
    'GET /tokens': to('/tokens'),
    'PATCH /tokens/{}': to(newTokenPath(), () => ({ label: newName() })),
    'DELETE /tokens/{}': to(newTokenPath()),
    'POST /tokens/{}/rotate': to(newTokenPath('/rotate'), () => ({})),
    'GET /usage': to('/usage'),
    'GET /audit': to('/audit'),
    'GET /audit/verification': to('/audit/verification'),
    'POST /audit/verification': async (world) => ({
      ...{ as: 'admin', path: `${base}/audit/verification`, body: '\n' },
      headers: { 'content-type': 'application/x-ndjson', ...(await newOperator(world)) },
    }),
    'POST /groups/adopt': async (world) => ({
      ...{ as: 'admin', path: `${base}/groups/adopt` },
      body: { user: await newUser(world), group_id: `group-${newName()}`, type: 'AIGC', ...named() },
    }),
    'GET /groups/pending': to('/groups/pending'),
    'POST /groups/pending/{}/adopt': async (world) => {
      const { id, user } = await newClaim(world)
      const body = { user, group_id: `group-${newName()}` }
      return { as: 'admin', path: `${base}/groups/pending/${id}/adopt`, body }
    },
    'POST /groups/pending/{}/release': to(async (world) => `/groups/pending/${(await newClaim(world)).id}/release`),
    'GET /batches': to('/batches'),
    'POST /batches/{}/cancel': to(async (world) => `/batches/${await newBatch(world)}/cancel`),
    'GET /consents': to('/consents'),
    'GET /consents/{}/export': to(({ known }) => `/consents/${known.face}/export`),
    'GET /consents/{}': to(({ known }) => `/consents/${known.face}`),
    'POST /consents/{}/withdraw': to(newFacePath('/withdraw')),
    'POST /consents/{}/delete': to(newFacePath('/delete')),
    'GET /videos': to('/videos'),
    'POST /videos/{}/adopt': to(
      async (world) => `/videos/${await newUndecidedVideo(world)}/adopt`,
      () => ({ upstream_id: `cgt-${newName()}` }),
    ),
    'POST /videos/{}/release': to(async (world) => `/videos/${await newUndecidedVideo(world)}/release`),
    'GET /upstreams': to('/upstreams'),
    'GET /settings': to('/settings'),
    'GET /activity': to('/activity'),
    'GET /alerts': to('/alerts'),
  } satisfies Requests).map(([route, make]) => [route.replace(' ', ` ${base}`), make]),
)
