/** Runs with `--all`: servers on both runtimes and both databases that are killed while they work on a batch. */
import { expect, test } from 'bun:test'
import { newGroup } from '../routes/fixture.ts'
import { databaseNames } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { itemOf, itemsOf, newBatch, progressOf, until } from './fixture.ts'

const kills = Number(process.env.SLUICE_KILLS ?? 2)
const size = 60

/** Calls of a killed process are settled after some seconds. */
const environment = { MEDIA_UPSTREAM_TIMEOUT_SECONDS: '1', MEDIA_UPSTREAM_LIMITS: '{}' }

const combinations = (['bun', 'deno'] as const).flatMap((runtime) =>
  databaseNames.map((database) => [runtime, database] as const),
)

test.each(combinations)(
  'a batch loses no item and makes none twice while two servers on %s with %s are killed',
  async (runtime, database) => {
    await using fixture = await openServerFixture(database)
    const { emulator } = fixture
    // A kill meets some of these calls, and the upstream makes the asset afterwards.
    emulator.faults.add({
      ...{ kind: 'delay', ms: 150, action: 'CreateAsset' },
      ...{ times: Number.POSITIVE_INFINITY, probability: 0.5 },
    })
    const servers = [await fixture.start(environment, runtime), await fixture.start(environment, runtime)]
    const person = await fixture.addUser('ann')
    const at = (nth: number) => person.at(servers[nth] as NonNullable<(typeof servers)[0]>)
    const group = await newGroup(at(0), 'people')
    const names = Array.from({ length: size }, (_, nth) => `picture ${String(nth).padStart(3, '0')}`)
    const id = await newBatch(
      at(0),
      group,
      names.map((name) => itemOf(name)),
    )
    const created = () => emulator.library.assets().length
    for (let kill = 0; kill < kills; kill++) {
      const before = created()
      await until(() => created() > before + 2 || created() === size)
      const nth = kill % 2
      await servers[nth]?.kill('SIGKILL')
      servers[nth] = await fixture.start(environment, runtime)
    }
    await until(async () => (await progressOf(at(0), id)).State === 'Ended')
    const items = await itemsOf(at(1), id)
    expect(items.map(({ Name, State }) => [Name, State])).toEqual(names.map((name) => [name, 'Created']))
    const assets = emulator.library.assets()
    expect(assets.map(({ name }) => name).toSorted()).toEqual(names)
    expect(items.map(({ AssetId }) => assets.find((asset) => asset.id === AssetId)?.name)).toEqual(names)
  },
  300_000,
)
