/** Ownership checks with your own store: here a map, in your app a database. */
import { Elysia } from 'elysia'
import { createNodeServer } from 'sluice'
import { type Group, type OwnershipStore, ownership } from 'sluice/ownership'

const folders = new Map<string, Group>([
  ['f1', { id: 'f1', user: 'ann', type: 'folder', name: 'Holidays', createdAt: 0 }],
  ['f2', { id: 'f2', user: 'bob', type: 'folder', name: 'Work', createdAt: 0 }],
])
const files = new Map([['picture', 'f1']])
let revision = 0

const store: OwnershipStore = {
  groupsOf: async (user, type) =>
    [...folders.values()].filter((folder) => folder.user === user && (!type || folder.type === type)),
  group: async (id) => folders.get(id),
  groupOfAsset: async (id) => files.get(id),
  recordAsset: async (id, folder) => void files.set(id, folder),
  removeGroup: async ({ id }) => {
    folders.delete(id)
    revision++
  },
  describeGroup: async () => {},
  dateGroups: async () => {},
  revision: async () => revision,
}

export const app = new Elysia()
  .use(ownership({ store, identify: (request) => ({ user: request.headers.get('x-user') ?? 'nobody' }) }))
  .get('/folders/:id', ({ group }) => `${group.name}, yours`, { ownsGroup: 'id' })
  .get('/files/:id', ({ asset }) => `${asset.id}, yours`, { ownsAsset: 'id' })

if (import.meta.main) await createNodeServer(app).listen(3000)
