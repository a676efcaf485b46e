import { expect, test } from 'bun:test'
import { systemClock } from '../../plugins/shared/clock.ts'
import { newGroup } from '../routes/fixture.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatedDatabases } from '../support/database.ts'
import { type BatchFixture, ended, itemOf, newBatch, openBatchFixture, progressOf, until } from './fixture.ts'

/** The command line, on the database of the gateway. */
const command = ({ store }: BatchFixture, ...args: readonly string[]) => runCommand(store, args, { clock: systemClock })

for (const kind of repeatedDatabases)
  test(`an operator sees a batch that is stuck, and cancels what waits; what was sent has its outcome (${kind})`, async () => {
    await using it = await openBatchFixture(kind)
    const group = await newGroup(it.ann, 'people')
    const held = it.emulator.faults.add({ kind: 'hold', action: 'CreateAsset' })
    const id = await newBatch(
      it.ann,
      group,
      ['a', 'b', 'c'].map((name) => itemOf(name)),
    )
    await held.waitForHits(1)
    const listed = await command(it, 'batch', 'list', '--state', 'running', '--json')
    expect(listed.out.map((line) => JSON.parse(line))).toMatchObject([
      { id, user: it.ann.id, group, ended_at: null, counts: { waiting: 2, sending: 1 } },
    ])
    expect((await command(it, 'batch', 'list', '--user', 'bob')).out).toEqual([])
    const [line = ''] = (await command(it, 'batch', 'list', '--user', 'ann')).out
    expect(line.split('\t')).toEqual(expect.arrayContaining([id, 'ann', group, 'waiting 2', 'sending 1', 'created 0']))

    expect(await command(it, 'batch', 'cancel', id)).toEqual({ status: 0, out: [], err: [] })
    held.release()
    await ended(it.ann, id)
    expect(await progressOf(it.ann, id)).toMatchObject({
      ...{ State: 'Ended', CancelTime: expect.any(String), Counts: { Created: 1, Cancelled: 2, Waiting: 0 } },
    })
    expect(it.creations()).toBe(1)
    const told = async () => (await it.store.eventsAfter(0, 100)).map(({ type }) => type)
    await until(async () => (await told()).includes('asset_batch.ended'))
    const trail = (await command(it, 'audit', '--action', 'asset_batch.cancel')).out.map((entry) => JSON.parse(entry))
    expect(trail).toMatchObject([{ id, address: 'admin' }])
    // A batch that was cancelled is not cancelled again, and one that is not there is an error.
    expect((await command(it, 'batch', 'cancel', id)).status).toBe(0)
    expect(await command(it, 'batch', 'cancel', 'batch-none')).toEqual({
      ...{ status: 1, out: [], err: ['there is no such batch'] },
    })
    expect((await command(it, 'batch', 'list', '--state', 'ended')).status).toBe(2)
  })
