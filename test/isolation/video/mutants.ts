import { pictureGroup } from '../../../plugins/asset-library/pictures/picture-assets.ts'
import type { VideoTask } from '../../../plugins/video-generation/index.ts'
import type { Store } from '../../../src/store/index.ts'
import type { Mutant } from './fixture.ts'

/** The store with some methods replaced. */
export const changed = (store: Store, methods: Partial<Store>): Store =>
  new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** Owners of tasks that the store has added: what a store that ignores users knows. */
const knowingOwners = (store: Store) => {
  const owners = new Map<string, string>()
  const addVideoTask: Store['addVideoTask'] = (task, ...more) => {
    owners.set(task.id, task.user)
    return store.addVideoTask(task, ...more)
  }
  const ownerOf = (user: string, id: string) => owners.get(id) ?? user
  return { addVideoTask, ownerOf, owners }
}

/** The upstream's `fetch` with a change of the create call's body, or of the responses. */
const fetching = (
  change: (body: Record<string, unknown>) => Record<string, unknown>,
  answer: (text: string) => string = (text) => text,
) => ({
  fetch: async (url: string, init: RequestInit): Promise<Response> => {
    const body =
      init.method === 'POST'
        ? JSON.stringify(change(JSON.parse(Buffer.from(init.body as Uint8Array).toString())))
        : undefined
    const response = await fetch(url, { ...init, ...(body !== undefined && { body }) })
    return new Response(answer(await response.text()), { status: response.status, headers: response.headers })
  },
})

/** Mutants of the gateway: each has one defect in an otherwise correct gateway. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'a task is shown to every user': ({ store }) => {
    const { addVideoTask, ownerOf } = knowingOwners(store)
    return { store: changed(store, { addVideoTask, videoTask: (user, id) => store.videoTask(ownerOf(user, id), id) }) }
  },

  'a list has the tasks of all users': ({ store }) => {
    const { addVideoTask, owners } = knowingOwners(store)
    return {
      store: changed(store, {
        addVideoTask,
        async videoTasks(user, filter, page) {
          const lists = await Promise.all(
            [...new Set([user, ...owners.values()])].map((one) => store.videoTasks(one, filter, page)),
          )
          return { tasks: lists.flatMap(({ tasks }) => tasks), total: lists.reduce((sum, { total }) => sum + total, 0) }
        },
      }),
    }
  },

  'the total counts the tasks of all users': ({ store }) => {
    let added = 0
    return {
      store: changed(store, {
        addVideoTask: (...given) => {
          added++
          return store.addVideoTask(...given)
        },
        videoTasks: async (...given) => ({ ...(await store.videoTasks(...given)), total: added }),
      }),
    }
  },

  'a list of ids is not checked': ({ store }) => {
    const { addVideoTask, ownerOf } = knowingOwners(store)
    return {
      store: changed(store, {
        addVideoTask,
        async videoTasks(user, filter, page) {
          if (!filter.ids) return store.videoTasks(user, filter, page)
          const found = await Promise.all(filter.ids.map((id) => store.videoTask(ownerOf(user, id), id)))
          const tasks = found.filter((task): task is VideoTask => task !== undefined)
          return { tasks, total: tasks.length }
        },
      }),
    }
  },

  'an ended task is deleted by every user': ({ store }) => {
    const { addVideoTask, ownerOf } = knowingOwners(store)
    let deleting = false
    return {
      store: changed(store, {
        addVideoTask,
        // As a route would that only the first look protects.
        videoTask: async (user, id) => {
          const task = await store.videoTask(ownerOf(user, id), id)
          return task?.user === user || deleting ? task : undefined
        },
        deleteVideoTask: (user, id, ...more) => store.deleteVideoTask(ownerOf(user, id), id, ...more),
      }),
      options: {
        audit: { note: () => {}, record: async () => {} },
        fetch: (url, init) => {
          deleting = init.method === 'DELETE' || deleting
          return fetch(url, init)
        },
      },
    }
  },

  'the asset of a picture serves all users': ({ store }) => {
    const isMade = async (id: string | undefined) => {
      const group = id === undefined ? undefined : await store.group(id)
      return group !== undefined && group.name === pictureGroup(group.user).name
    }
    let first: string | undefined
    return {
      store: changed(store, {
        async picture(user, digest) {
          first ??= user
          const known = await store.picture(first, digest)
          return known && { ...known, user }
        },
        claimPicture: (claim) => store.claimPicture({ ...claim, user: first ?? claim.user }),
        confirmPicture: (claim, asset) => store.confirmPicture({ ...claim, user: first ?? claim.user }, asset),
        async groupOfAsset(asset, user) {
          const group = await store.groupOfAsset(asset)
          return (await isMade(group)) ? group : store.groupOfAsset(asset, user)
        },
        async group(id, user) {
          const group = user !== undefined && (await isMade(id)) ? await store.group(id) : undefined
          return group && user !== undefined ? { ...group, user } : store.group(id, user)
        },
      }),
    }
  },

  'an asset is not checked': ({ store }) => ({
    store: changed(store, {
      groupOfAsset: (asset) => store.groupOfAsset(asset),
      async group(id, user) {
        const group = await store.group(id)
        return group && user !== undefined ? { ...group, user } : group
      },
    }),
  }),

  'the uses of an asset are shown to every user': ({ store }) => {
    const { addVideoTask, owners } = knowingOwners(store)
    let ofUses = false
    return {
      around: (handle) => (request) => {
        ofUses = request.url.includes('/uses')
        return handle(request)
      },
      store: changed(store, {
        addVideoTask,
        groupOfAsset: (asset, user) => store.groupOfAsset(asset, ofUses ? undefined : user),
        async group(id, user) {
          const group = await store.group(id, ofUses ? undefined : user)
          return group && user !== undefined && ofUses ? { ...group, user } : group
        },
        videoAssetUses: {
          async tasksWithAsset(_, asset, page) {
            const all = await Promise.all(
              [...new Set(owners.values())].map((user) => store.videoAssetUses.tasksWithAsset(user, asset, page)),
            )
            return all.flat()
          },
          countTasksWithAsset: async () => ({ total: 0, waiting: 0 }),
        },
      }),
    }
  },

  'all users have one identifier': () => ({
    options: fetching((body) => ({ ...body, safety_identifier: 'f'.repeat(64) })),
  }),

  'the priority of the caller reaches the upstream': () => ({ options: { maxPriority: 9 } }),

  'the ids of the upstream are shown': ({ store }) => ({
    store: changed(store, {
      async videoTask(user, id) {
        const task = await store.videoTask(user, id)
        if (task?.task === undefined) return task
        return { ...task, task: JSON.stringify({ ...JSON.parse(task.task), upstream_id: task.upstreamId }) }
      },
    }),
  }),

  'the identifier of the upstream is shown': ({ store }) => ({
    store: changed(store, {
      async videoTask(user, id) {
        const task = await store.videoTask(user, id)
        if (task?.task === undefined) return task
        const object = JSON.parse(task.task)
        return { ...task, task: JSON.stringify({ ...object, user: object.safety_identifier }) }
      },
    }),
  }),

  'a poll mixes the results of two tasks': ({ store }) => ({
    store: changed(store, {
      moveVideoTasks: (moves, ...more) => {
        const objects = moves.map(({ task }) => task)
        return store.moveVideoTasks(
          moves.map((move, index) => {
            const other = objects[(index + 1) % objects.length] ?? move.task
            return other === ''
              ? move
              : { ...move, task: JSON.stringify({ ...JSON.parse(other), status: move.status }) }
          }),
          ...more,
        )
      },
    }),
  }),

  'a status goes back': ({ store }) => {
    let reads = 0
    return {
      store: changed(store, {
        async videoTask(user, id) {
          const task = await store.videoTask(user, id)
          return task && ++reads % 5 === 0 ? { ...task, status: 'queued' } : task
        },
      }),
    }
  },

  'a lost answer makes a task twice': () => ({
    options: {
      async fetch(url, init) {
        try {
          return await fetch(url, init)
        } catch (error) {
          if (init.method !== 'POST') throw error
          return fetch(url, init)
        }
      },
    },
  }),

  'a draft of every user is accepted': ({ store }) => {
    const { addVideoTask, ownerOf } = knowingOwners(store)
    let method = ''
    return {
      around: (handle) => (request) => {
        method = request.method
        return handle(request)
      },
      store: changed(store, {
        addVideoTask,
        async videoTask(user, id) {
          const task = await store.videoTask(ownerOf(user, id), id)
          return method === 'POST' || task?.user === user ? task : undefined
        },
      }),
    }
  },
}
