import { type FaultWorld, newAsset, newBorrowedGroup, newFace, newGroup, newName } from '../world.ts'
import type { MakeRequest, Requests } from './request.ts'

const base = '/api/media/proxy/assets'

const to =
  (path: string | ((world: FaultWorld) => string | Promise<string>), body?: () => object): MakeRequest =>
  async (world) => ({
    ...{ as: 'token', path: base + (typeof path === 'string' ? path : await path(world)) },
    ...(body && { body: body() }),
  })

const ofGroup =
  (rest = '') =>
  ({ known }: FaultWorld) =>
    `/groups/${known.group}${rest}`
const ofAsset =
  (rest = '') =>
  ({ known }: FaultWorld) =>
    `/${known.asset}${rest}`
const ofFace =
  (rest: string) =>
  ({ known }: FaultWorld) =>
    `/groups/${known.face}/consent${rest}`
const newFacePath = (rest: string) => async (world: FaultWorld) => `/groups/${await newFace(world)}/consent${rest}`
const newGroupPath = async (world: FaultWorld) => `/groups/${await newGroup(world)}`
const newAssetPath = async (world: FaultWorld) => `/${await newAsset(world, world.known.group)}`
const named = () => ({ Name: newName() })

const share = (world: FaultWorld) => ({ User: world.ids.session, Access: 'read' })

const batch = (world: FaultWorld) => ({
  ...{ as: 'token' as const, path: `${base}/batches?GroupId=${world.known.group}` },
  body: `{"URL":"https://files.example/c.png","AssetType":"Image","Name":"${newName()}"}`,
  headers: { 'content-type': 'application/x-ndjson' },
})

/** A batch whose item has failed: the upstream does not know its group. */
const failedBatch = async (world: FaultWorld): Promise<string> => {
  const [id, user] = [`group-${newName()}`, world.ids.token]
  await world.store.adoptGroup({ id, user, type: 'AIGC', name: id, createdAt: Date.now() })
  const { Result } = await world.ask('POST', { ...batch(world), path: `${base}/batches?GroupId=${id}` })
  const path = `${base}/batches/${Result.Id}`
  while ((await world.ask('GET', { as: 'token', path })).Result.Counts.Failed === 0) await Bun.sleep(20)
  return Result.Id
}

/** Requests of the asset library. */
export const libraryRequests: Requests = Object.fromEntries(
  Object.entries({
    'POST /groups': to('/groups', named),
    'GET /groups': to('/groups'),
    'GET /groups/{}': to(ofGroup()),
    'PUT /groups/{}': to(newGroupPath, named),
    'PATCH /groups/{}': to(newGroupPath, named),
    'DELETE /groups/{}': to(newGroupPath),
    'POST /groups/{}/shares': async (world) => ({
      ...{ as: 'token', path: `${base}${await newGroupPath(world)}/shares`, body: share(world) },
    }),
    'GET /groups/{}/shares': to(ofGroup('/shares')),
    'GET /groups/{}/shares/uses': to(ofGroup('/shares/uses')),
    'DELETE /groups/{}/shares/{}': async (world) => {
      const path = `${base}${await newGroupPath(world)}/shares`
      const { Result } = await world.ask('POST', { as: 'token', path, body: share(world) })
      return { as: 'token', path: `${path}/${Result.Id}` }
    },
    'POST /groups/{}/return': to(async (world) => `/groups/${await newBorrowedGroup(world)}/return`),
    'POST ': ({ known }) => ({
      ...{ as: 'token', path: base },
      body: { GroupId: known.group, URL: 'https://files.example/a.png', AssetType: 'Image', ...named() },
    }),
    'GET ': to(''),
    'GET /{}': to(ofAsset()),
    'PUT /{}': to(newAssetPath, named),
    'PATCH /{}': to(newAssetPath, named),
    'DELETE /{}': to(newAssetPath),
    'GET /{}/uses': to(ofAsset('/uses')),
    'POST /batches': batch,
    'GET /batches': to('/batches'),
    'GET /batches/{}': to(({ known }) => `/batches/${known.batch}`),
    'GET /batches/{}/items': to(({ known }) => `/batches/${known.batch}/items`),
    'POST /batches/{}/cancel': to(async (world) => {
      const { Result } = await world.ask('POST', batch(world))
      return `/batches/${Result.Id}/cancel`
    }),
    'POST /batches/{}/retry': to(async (world) => `/batches/${await failedBatch(world)}/retry`),
    'POST /batches/{}/items/{}/retry': to(async (world) => `/batches/${await failedBatch(world)}/items/1/retry`),
    'GET /groups/{}/uses': to(ofGroup('/uses')),
    'GET /groups/{}/consent': to(ofFace('')),
    'GET /groups/{}/consent/uses': to(ofFace('/uses')),
    'GET /groups/{}/consent/export': to(ofFace('/export')),
    'POST /groups/{}/consent/withdraw': to(newFacePath('/withdraw')),
    'POST /groups/{}/consent/delete': to(newFacePath('/delete')),
    'POST /groups/{}/consent/links': to(newFacePath('/links')),
  } satisfies Requests).map(([route, make]) => [route.replace(' ', ` ${base}`), make]),
)
