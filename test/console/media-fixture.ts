import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import type { Page } from 'playwright-core'
import { consolePages } from '../../plugins/console/index.ts'
import { events } from '../../plugins/events/index.ts'
import { fileStorage, folderStorage } from '../../plugins/file-storage/index.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { requireSameOrigin } from '../../plugins/shared/http/origin.ts'
import { hashPassword, identifyBySession } from '../../plugins/web-session/index.ts'
import type { AppOptions } from '../../src/app/options.ts'
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { startGateway } from '../support/gateway.ts'
import { name, password } from './fixture.ts'

export interface MediaFixture extends AsyncDisposable {
  readonly url: string
  /** Where the upstream stores results: pages may load media from it. */
  readonly mediaOrigin: string
  readonly emulator: Emulator
  readonly store: Store
  /** Id of the user ann. */
  readonly user: string
  /** Adds a group of ann. Returns its id. */
  addGroup(name: string): Promise<string>
}

export interface MediaFixtureOptions {
  readonly emulator?: EmulatorOptions
  readonly video?: Partial<AppOptions['video']>
  /** Whether the page listens to events. Default true; otherwise it polls. */
  readonly live?: boolean
}

/** Hashing is slow on purpose, so it is done once. */
const hash = hashPassword(password)
const secrets = ['a secret of the test suite'] as const
/** The upstream takes only https addresses, and fetches none of them. */
const filesOrigin = 'https://files.example'

/** A console with uploads, video generation and events, and one user, ann. Tasks run until `emulator.video.finish`. */
export const openMediaFixture = async (options: MediaFixtureOptions = {}): Promise<MediaFixture> => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const user = (await store.addUser({ name, password: await hash, createdAt: Date.now() })) ?? ''
  const folder = await mkdtemp(join(tmpdir(), 'sluice-console-'))
  const background = new Background()
  let url = ''
  const publicUrl = () => url
  const identify = identifyBySession({ store, secrets, publicUrl })
  const gateway = await startGateway({
    store,
    emulator: {
      ...options.emulator,
      video: { queuedMs: 0, runningMs: Number.POSITIVE_INFINITY, ...options.emulator?.video },
    },
    video: { pollMs: 20, background, ...options.video },
    ...{ events: store, background },
    checked: 'own',
    around: (handle) => {
      const paths = {
        video: '/api/v3',
        uploads: '/api/uploads',
        batches: '/api/media/proxy/assets/batches',
        webhooks: '/api/webhooks',
        failureAdvice: '/api/failure-advice',
        ...(options.live !== false && { events: '/api/events' }),
      }
      const own = new Elysia()
        .use(consolePages({ paths }))
        .use(events({ store, identify, everyMs: 20, background }))
        .use(
          fileStorage({
            ...{ store, secrets, identify, storage: folderStorage(folder), publicUrl: filesOrigin },
            requireSameOrigin: (request) => requireSameOrigin(request, publicUrl),
          }),
        )
      return (request) =>
        /^\/(?:console|api\/(?:uploads|files|events))\b/.test(new URL(request.url).pathname)
          ? own.handle(request)
          : handle(request)
    },
  })
  url = gateway.url
  return {
    ...{ url, store, user },
    emulator: gateway.emulator,
    mediaOrigin: gateway.emulator.origin,
    async addGroup(name) {
      const { id } = gateway.emulator.library.addGroup({ name })
      await store.adoptGroup({ id, user, type: 'AIGC', name, createdAt: Date.now() })
      return id
    },
    async [Symbol.asyncDispose]() {
      await background.stop()
      await gateway[Symbol.asyncDispose]()
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==',
  'base64',
)

/** Gives the page files by a drop or a paste, as a user does with the mouse or the keyboard. */
export const give = (page: Page, how: 'drop' | 'paste', names: readonly string[]): Promise<void> =>
  page.evaluate<void>(`(() => {
    const data = new DataTransfer()
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (one) => one.charCodeAt(0))
    for (const name of ${JSON.stringify(names)}) data.items.add(new File([bytes], name, { type: 'image/png' }))
    if ('${how}' === 'drop') {
      for (const type of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
    } else document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  })()`)
