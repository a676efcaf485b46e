import { Elysia } from 'elysia'
import {
  assetLibrary,
  type GatewayOptions,
  type Originals,
  type SlotOptions,
} from '../../plugins/asset-library/index.ts'
import type { AssetOwners, PlacedAssets } from '../../plugins/shared/media/asset-ownership.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import type { Emulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

/** One process with a library that is larger than its slots. The header `x-user` names the caller. */
export interface SlotProcess {
  readonly clock: VirtualClock
  readonly originals: MemoryOriginals
  readonly assets: AssetOwners
  /** For `textGeneration`. */
  readonly texts: NonNullable<ReturnType<typeof assetLibrary>['assets']>
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  ask(user: string, method: string, path: string, body?: unknown): Promise<{ status: number; json: any; text: string }>
  group(user: string, name: string): Promise<string>
  asset(user: string, group: string, name: string, more?: object): Promise<string>
  /** Ids of all assets of a user, walked by token in pages. */
  list(user: string, query?: string): Promise<readonly string[]>
  /** Gets assets to the upstream. */
  placed(ids: readonly string[], task: string): Promise<PlacedAssets>
}

export interface MemoryOriginals extends Originals {
  readonly keys: Set<string>
}

export const memoryOriginals = (): MemoryOriginals => {
  const keys = new Set<string>()
  const keep = async ({ name }: { readonly name: string }) => {
    const key = `originals/${name}.png`
    keys.add(key)
    return key
  }
  return {
    keys,
    keep,
    keepUpstream: keep,
    linkTo: (key, expiresAt) => `https://files.example/${key}?expires=${expiresAt}`,
    async remove(some) {
      for (const key of some) keys.delete(key)
    },
  }
}

export interface SlotProcessOptions extends Partial<Omit<GatewayOptions, 'slots' | 'store' | 'clock'>> {
  readonly slots?: Partial<SlotOptions>
  readonly clock?: VirtualClock
}

export const openProcess = (
  store: Store,
  emulator: Emulator,
  { slots, clock = new VirtualClock(1, Date.now()), ...more }: SlotProcessOptions = {},
): SlotProcess => {
  const originals = memoryOriginals()
  const library = assetLibrary({
    ...{ kind: rest(emulator.rest), store, secrets: ['a secret of the test suite'], clock },
    identify: ({ headers }) => ({ user: headers.get('x-user') ?? '' }),
    slots: { store, originals, slots: 5, ...slots },
    ...more,
  })
  const app = new Elysia().use(library.gateway)
  const { authorizedAssets: assets, assets: texts } = library
  if (!assets || !texts) throw new Error('there is an upstream')
  const ask: SlotProcess['ask'] = async (user, method, path, body) => {
    const response = await app.handle(
      new Request(`http://localhost/api/media/proxy${path}`, {
        ...{ method, headers: { 'x-user': user, 'content-type': 'application/json' } },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    return { status: response.status, text, json: text === '' ? undefined : JSON.parse(text) }
  }
  const created = async (user: string, path: string, body: object): Promise<string> => {
    const { status, text, json } = await ask(user, 'POST', path, body)
    if (status !== 200) throw new Error(`${status} ${text}`)
    return json.Result.Id
  }
  return {
    ...{ clock, originals, assets, texts, ask },
    group: (user, Name) => created(user, '/assets/groups', { Name }),
    asset: (user, GroupId, Name, more = {}) =>
      created(user, '/assets', {
        GroupId,
        Name,
        URL: `https://files.example/${Name}.png`,
        AssetType: 'Image',
        ...more,
      }),
    async list(user, query = '') {
      const ids: string[] = []
      for (let token = ''; ; ) {
        const { json, text } = await ask(user, 'GET', `/assets?PageSize=7${query}&NextToken=${token}`)
        if (!json.Result) throw new Error(text)
        ids.push(...json.Result.Items.map(({ Id }: { Id: string }) => Id))
        token = json.Result.NextToken
        if (token === '') {
          if (json.Result.TotalCount !== ids.length) throw new Error(`${json.Result.TotalCount} of ${ids.length}`)
          return ids
        }
      }
    },
    async placed(ids, task) {
      for (let tries = 0; tries < 500; tries++) {
        const found = await assets.place?.(ids, task)
        if (found) return found
        if (tries > 5) await new Promise((resolve) => setTimeout(resolve, 2))
      }
      throw new Error(`${ids} do not get to the upstream: ${JSON.stringify(await store.slottedAssets(ids))}`)
    },
  }
}

/** A task that waits in the queue, with the assets that it needs. */
export const addWaitingTask = async (store: Store, id: string, user: string, assets: readonly string[]) => {
  const task = {
    ...{ id, user, model: 'seedance', createdAt: 1, expiresAt: 2 ** 45, request: '{}' },
    serviceTier: 'default' as const,
    fields: '{"own":{},"shown":{}}',
    assets: assets.map((asset) => ({ id: asset })),
  } as const
  const full = { running: 0, waitingPerUser: 10_000, waitingBytesPerUser: 2 ** 40 }
  const { outcome } = await store.addVideoTask(task, full, 2 ** 45)
  if (outcome !== 'waiting') throw new Error(outcome)
}

/** Calls of an action since the function was made. */
export const counter = (emulator: Emulator, action: string): (() => number) => {
  const count = () => emulator.calls.filter((call) => call.action === action && call.status === 200).length
  const before = count()
  return () => count() - before
}

/** The gateway's id of an asset in its name at the upstream. */
export const ownIdIn = (name: string): string => name.replace(/-\d+$/, '')
