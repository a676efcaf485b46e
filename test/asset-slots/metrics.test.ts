import { expect, test } from 'bun:test'
import { folderStorage } from 'sluice/file-storage'
import { Background } from '../../plugins/shared/background/background.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { sleepOn, VirtualClock } from '../support/virtual-clock.ts'
import { addUploaded, askAbout, detailOf } from './requests.ts'

const metricsToken = 'a token for metrics'

/** The values of the metrics of slots, by what their labels say. */
const readSlots = async (url: string): Promise<Readonly<Record<string, number>>> => {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  const found = (await response.text()).matchAll(/^sluice_asset_slot(?:s|_changes_total)\{(.*)\} (\d+)$/gm)
  return Object.fromEntries(
    [...found].map(([, labels = '', value]) => [
      [...labels.matchAll(/(?:upstream|state|change)="(\w+)"/g)].map(([, label]) => label).join(' '),
      Number(value),
    ]),
  )
}

test.each(['', 'a '])(
  'the values of /metrics are those of the slots (account: %p)',
  async (prefix) => {
    const isOne = prefix === ''
    await using emulator = await startEmulator({ processingMs: 0 })
    await using second = await startEmulator({ processingMs: 0, account: 1 })
    await using folder = await temporaryFolder()
    const clock = new VirtualClock(1, Date.now())
    const background = new Background({ sleep: sleepOn(clock) })
    await using gateway = await startGateway({
      ...{
        emulator,
        metricsToken,
        clock,
        background,
        slots: { slots: 2 },
        files: { storage: folderStorage(folder.path) },
      },
      ...(!isOne && {
        kind: undefined,
        accounts: [
          { name: 'a', kind: rest(emulator.rest) },
          { name: 'b', kind: rest(second.rest), slots: 7 },
        ],
      }),
    })
    const { url, store } = gateway
    const ann = await gateway.addUser('ann')
    const { id: group } = emulator.library.addGroup({ name: 'many' })
    await store.adoptGroup({ id: group, user: ann.id, type: 'AIGC', name: 'many', createdAt: 1 })
    const ids: string[] = []
    for (const name of ['a0', 'a1', 'a2']) {
      const id = await addUploaded(url, ann, group, name)
      await until(async () => (await detailOf(ann, id)).Status === 'Active')
      ids.push(id)
      await clock.pass(1_000)
    }
    const { [`${prefix}created`]: created, [`${prefix}evicted`]: evicted } = await readSlots(url)
    expect([created, evicted]).toEqual([3, 1])

    const hold = emulator.faults.add({ kind: 'hold', action: 'CreateChatCompletion', times: Number.POSITIVE_INFINITY })
    const chat = (id = '') => askAbout(url, ann, id)
    // Two requests use the slots, and a third one waits.
    const first = chat(ids[0])
    await hold.waitForHits(1)
    const others = [chat(ids[1])]
    await hold.waitForHits(2)
    others.push(chat(ids[2]))
    const shows = (counts: Readonly<Record<string, number>>) =>
      until(async () => {
        await clock.pass(1_000)
        const values = await readSlots(url)
        return Object.entries(counts).every(([name, count]) => values[name] === count)
      })
    await shows({ [`${prefix}used`]: 2, [`${prefix}limit`]: 2, [`${prefix}waiting`]: 1 })
    const { [`${prefix}recreated`]: recreated } = await readSlots(url)
    expect(recreated).toBe(2)
    hold.remove()
    const ended = Promise.all([first, ...others])
    await shows({ [`${prefix}used`]: 2, [`${prefix}waiting`]: 0, [`${prefix}recreated`]: 3 })
    expect(await ended).toEqual([200, 200, 200])
    const { 'b used': used, 'b limit': limit, 'b created': none } = await readSlots(url)
    expect([used, limit, none]).toEqual(isOne ? [undefined, undefined, undefined] : [0, 7, undefined])
    await background.stop()
  },
  60_000,
)
