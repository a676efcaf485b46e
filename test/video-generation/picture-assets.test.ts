import { afterAll, beforeAll, expect, test } from 'bun:test'
import { assetLibrary, type GatewayOptions } from '../../plugins/asset-library/index.ts'
import type { PictureAssets } from '../../plugins/shared/media/picture-assets.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const url = 'https://files.example/real-face/a.png'

repeatOnDatabases('the assets of pictures', (database) => {
  // One for all tests: another one would give the same ids.
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startEmulator({ processingMs: 0 })
  })
  afterAll(() => emulator.stop())

  const open = (store: Store, more: Partial<GatewayOptions> = {}): PictureAssets => {
    const { pictures } = assetLibrary({
      ...{ kind: rest(emulator.rest), store, pictures: { store }, identify: () => undefined },
      ...{ secrets: ['a secret of the test suite'], ...more },
    })
    if (!pictures) throw new Error('there is an upstream')
    return pictures
  }
  /** Calls since the function was made. */
  const countCreations = () => {
    const count = () => emulator.calls.filter(({ action }) => action === 'CreateAsset').length
    const before = count()
    return () => count() - before
  }

  test('are made once by two processes at the same time', async () => {
    const creations = countCreations()
    const processes = [open(await database.open()), open(await database.open())]
    const register = (pictures: PictureAssets) => pictures.register({ user: 'ann', url })
    const states = await Promise.all([...processes, ...processes, ...processes].map(register))
    for (let busy = true; busy; ) {
      const [one, other] = await Promise.all(processes.map(register))
      busy = one?.state !== 'active' || other?.state !== 'active'
      if (!busy) expect(one).toEqual(other as never)
    }
    expect(states.filter(({ state }) => state === 'failed')).toEqual([])
    expect(creations()).toBe(1)
    expect(emulator.library.groups()).toHaveLength(1)
    // The group exists now: only the record of the picture is in the way.
    const other = { user: 'ann', url: `${url}?other` }
    await Promise.all([...processes, ...processes].map((pictures) => pictures.register(other)))
    expect(creations()).toBe(2)
  })

  test('are not made again before the outcome of a lost call is known', async () => {
    const creations = countCreations()
    const clock = new VirtualClock()
    const pictures = open(await database.open(), { clock })
    const register = (user: string) => pictures.register({ user, url })
    await register('bob')
    emulator.faults.add({ kind: 'reset-after', action: 'CreateAsset' })
    expect(register('cyd')).rejects.toMatchObject({ status: 502 })
    await until(() => creations() === 2)
    expect(await register('cyd')).toEqual({ state: 'busy' })
    await clock.pass(59_000)
    expect(await register('cyd')).toEqual({ state: 'busy' })
    await clock.pass(2_000)
    expect(await register('cyd')).toMatchObject({ state: 'active' })
    expect(creations()).toBe(2)
    // The upstream never got this one.
    emulator.faults.add({ kind: 'reset-before', action: 'CreateAsset' })
    expect(register('dan')).rejects.toMatchObject({ status: 502 })
    await until(() => creations() === 3)
    await clock.pass(61_000)
    expect(await register('dan')).toMatchObject({ state: 'processing' })
    expect(creations()).toBe(4)
    expect(new Set(emulator.library.assets().map(({ groupId }) => groupId)).size).toBe(4)
  })

  test('say what the upstream says about a full library, and wait for what passes', async () => {
    const creations = countCreations()
    const pictures = open(await database.open())
    const body = (Code: string) => JSON.stringify({ ResponseMetadata: { Error: { Code, Message: 'as it is' } } })
    const refuse = (status: number, code: string) =>
      emulator.faults.add({ kind: 'status', status, body: body(code), action: 'CreateAsset' })
    const register = () => pictures.register({ user: 'eve', url })
    refuse(429, 'QuotaSharedPoolExceeded')
    expect(await register()).toEqual({ state: 'failed', code: 'QuotaSharedPoolExceeded', message: 'as it is' })
    refuse(429, 'Throttling')
    expect(await register()).toEqual({ state: 'busy' })
    refuse(400, 'InvalidParameter.WidthTooSmall')
    expect(await register()).toMatchObject({ state: 'failed', code: 'InvalidParameter.WidthTooSmall' })
    // None of these has made anything.
    expect(await register()).toMatchObject({ state: 'processing' })
    expect(creations()).toBe(4)
    expect(emulator.library.assets()).toHaveLength(6)
  })

  test('lie in one group of each user, also when the responses of several users are lost at once', async () => {
    const before = emulator.library.groups().length
    // By the emulator's clock: reconciliation compares the times of groups with those of claims.
    const clock = new VirtualClock(1, Date.now())
    const pictures = open(await database.open(), { clock, background: true })
    const users = ['fay', 'gus', 'hal']
    emulator.faults.add({ kind: 'reset-after', action: 'CreateAssetGroup', times: users.length })
    const lost = await Promise.allSettled(users.map((user) => pictures.register({ user, url })))
    expect(lost.map(({ status }) => status)).toEqual(users.map(() => 'rejected'))
    for (const user of users) {
      while ((await pictures.register({ user, url })).state === 'busy') await clock.pass(1_000)
    }
    expect(emulator.library.groups()).toHaveLength(before + users.length)
  })
})

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}
