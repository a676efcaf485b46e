import { Elysia } from 'elysia'
import { consolePages } from '../../plugins/console/index.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { UpstreamRejectedError } from '../../plugins/shared/upstream/upstream-error.ts'
import { hashPassword, identifyBySession } from '../../plugins/web-session/index.ts'
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { startGateway } from '../support/gateway.ts'

type Status = 'waiting_user' | 'callback_received' | 'resolving' | 'verified' | 'failed' | 'expired'

/** Face verification without an upstream. The test sets the status of the tasks. */
export interface Faces {
  status: Status
  /** Lifetime of new tasks, in seconds. */
  seconds: number
  /** HTTP status with which queries of a task fail; 0: they succeed. */
  failingStatus: number
}

export interface Fixture extends AsyncDisposable {
  readonly url: string
  readonly emulator: Emulator
  readonly store: Store
  /** Id of the user ann. */
  readonly user: string
  readonly faces: Faces
}

export const name = 'ann'
export const password = 'a long enough password'
/** Hashing is slow on purpose, so it is done once. */
const hash = hashPassword(password)
const secrets = ['a secret of the test suite'] as const

/** The console with the gateway and one user, ann. */
export const openFixture = async (options: EmulatorOptions = {}): Promise<Fixture> => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const user = (await store.addUser({ name, password: await hash, createdAt: Date.now() })) ?? ''
  const faces: Faces = { status: 'waiting_user', seconds: 600, failingStatus: 0 }
  let url = ''
  const gateway = await startGateway({
    store,
    emulator: options,
    checked: 'own',
    around: (handle) => {
      const pages = new Elysia().use(consolePages())
      const verifications = faceRoutes(
        faces,
        store,
        () => url,
        () => gateway.emulator,
      )
      return (request) => {
        const { pathname } = new URL(request.url)
        if (pathname.startsWith('/console')) return pages.handle(request)
        return pathname.startsWith('/api/media/face-verifications') ? verifications.handle(request) : handle(request)
      }
    },
  })
  url = gateway.url
  return {
    ...{ url, store, user, faces },
    emulator: gateway.emulator,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await store.close()
    },
  }
}

const faceRoutes = (faces: Faces, store: Store, url: () => string, emulator: () => Emulator) => {
  const identify = identifyBySession({ store, secrets, publicUrl: url })
  const tasks = new Map<string, { user: string; group?: string }>()
  const guard = async (request: Request): Promise<string> => {
    const found = await identify(request)
    if (!found) throw new Problem(401, 'not authenticated')
    return found.user
  }
  return new Elysia({ prefix: '/api/media/face-verifications' })
    .onError(({ error }) => (error instanceof Problem ? error.toResponse() : undefined))
    .post(
      '',
      async ({ request, set }) => {
        const id = `verification-${tasks.size + 1}`
        tasks.set(id, { user: await guard(request) })
        set.headers['cache-control'] = 'no-store'
        return {
          verification_id: id,
          status: 'waiting_user',
          h5_url: `${url()}/h5/${id}?sessionToken=${'secret'.repeat(40)}`,
          expires_at: Math.floor(Date.now() / 1000) + faces.seconds,
        }
      },
      { parse: 'none' },
    )
    .get('/:id', async ({ request, params, set }) => {
      set.headers['cache-control'] = 'no-store'
      const user = await guard(request)
      const task = tasks.get(params.id)
      if (task?.user !== user) throw new Problem(404, 'verification not found')
      if (faces.failingStatus) throw forwardedError(faces.failingStatus, 'Seedance upstream unavailable')
      const { status } = faces
      if (status !== 'verified') return { verification_id: params.id, status }
      task.group ??= await addFace(user, store, emulator())
      return { verification_id: params.id, status, group_id: task.group }
    })
}

/** An error of the upstream that the gateway forwards. */
const forwardedError = (status: number, message: string) =>
  new UpstreamRejectedError({
    status,
    headers: new Headers({ 'content-type': 'application/json' }),
    bytes: new TextEncoder().encode(JSON.stringify({ success: false, error: { message, type: 'media_proxy_error' } })),
  })

const addFace = async (user: string, store: Store, emulator: Emulator): Promise<string> => {
  const { id } = emulator.library.addGroup({ name: 'face', type: 'LivenessFace' })
  await store.adoptGroup({ id, user, type: 'LivenessFace', name: 'face', createdAt: Date.now() })
  return id
}
