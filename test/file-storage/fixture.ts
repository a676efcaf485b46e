import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { type FileStorageOptions, fileStorage, folderStorage, type Storage } from 'sluice/file-storage'
import { openStore, type Store } from 'sluice/store'

export const secrets = ['the first secret of the tests', 'the second secret of the tests'] as const
export const publicUrl = 'https://files.example'

/** A folder that is removed at the end of the test. */
export const temporaryFolder = async (): Promise<AsyncDisposable & { readonly path: string }> => {
  const path = await mkdtemp(join(tmpdir(), 'sluice-files-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

export interface TestFiles extends AsyncDisposable {
  readonly store: Store
  readonly storage: Storage
  readonly path: string
  readonly app: { fetch(request: Request): Promise<Response> }
  /** Sends a request to the plugin in this process. The user is the value of `x-user`. */
  ask(path: string, init?: RequestInit): Promise<Response>
  upload(body: RequestInit['body'], headers?: Record<string, string>): Promise<Response>
}

/** The plugin, in an app without a server, on a folder. */
export const openFiles = async (options: Partial<FileStorageOptions> = {}): Promise<TestFiles> => {
  const folder = await temporaryFolder()
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const storage = options.storage ?? folderStorage(folder.path)
  const app = new Elysia().use(
    fileStorage({
      store,
      publicUrl,
      secrets,
      identify: ({ headers }) => {
        const user = headers.get('x-user')
        return user === null ? undefined : { user }
      },
      ...options,
      storage,
    }),
  )
  const ask = (path: string, init: RequestInit = {}) =>
    Promise.resolve(app.fetch(new Request(path.startsWith('https:') ? path : publicUrl + path, init)))
  return {
    store,
    storage,
    path: folder.path,
    app: { fetch: async (request) => app.fetch(request) },
    ask,
    upload: (body, headers = {}) =>
      ask('/api/uploads', { method: 'POST', headers: { 'x-user': 'ann', ...headers }, body }),
    async [Symbol.asyncDispose]() {
      await store.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** The pieces of a body. */
export async function* pieces(...texts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield typeof text === 'string' ? new TextEncoder().encode(text) : text
}

/** A PNG file as far as its signature. */
export const png = (length = 100): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  for (let at = 8; at < length; at++) bytes[at] = at % 251
  return bytes
}
