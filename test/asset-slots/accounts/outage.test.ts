import { expect, test } from 'bun:test'
import { Background } from '../../../plugins/shared/background/background.ts'
import { repeatOnDatabases } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { sleepOn } from '../../support/virtual-clock.ts'
import { addWaitingTask } from '../fixture.ts'
import { twoAccounts } from './fixture.ts'

const timeoutMs = 60_000

repeatOnDatabases('without one of several accounts with slots', ({ kind }) => {
  const { emulator, open, present } = twoAccounts(kind)
  const forever = { times: Number.POSITIVE_INFINITY }

  test(
    'the other one goes on, nothing on it is evicted for what cannot come, and all is there afterwards',
    async () => {
      await using process = await open({ a: 2, b: 2 }, { timeoutMs: 1_000 })
      const { clock } = process
      const ids = {
        a: await process.added('ann', await process.groupOn('a', 'ann'), 4),
        b: await process.added('ann', await process.groupOn('b', 'ann'), 4),
      }
      const lost = await process.groupOn('b', 'ann')
      emulator('b').faults.add({ kind: 'reset-before', ...forever })
      const before = present('a')
      const [absent = ''] = ids.b
      await addWaitingTask(process.store, 'cgt-1', 'ann', [absent])
      for (let tries = 0; tries < 3; tries++) expect(await process.assets.place?.([absent], 'cgt-1')).toBeUndefined()
      expect(present('a')).toEqual(before)
      // What the records answer is answered; a group whose assets they do not have yet is missing, and no shorter list.
      expect((await process.ask('ann', 'GET', `/assets/${absent}`)).json.Result).toMatchObject({ Status: 'Active' })
      const all = await process.ask('ann', 'GET', '/assets?PageSize=100')
      expect([all.status, all.json.error.message]).toEqual([502, 'Seedance upstream unavailable: account b'])
      const known = (await process.store.groupsOf('ann')).map(({ id }) => id).filter((id) => id !== lost)
      expect((await process.list('ann', `&GroupIds=${known}`)).toSorted()).toEqual([...ids.a, ...ids.b].toSorted())
      for (const id of ids.a) {
        await process.placed([id], `task of ${id}`)
        await clock.pass(1_000)
      }
      const later = await process.asset('ann', known.at(-1) ?? '', 'later')
      expect(present('a')).toEqual(ids.a.slice(2).toSorted())
      emulator('b').faults.clear()
      await clock.pass(60_000)
      const background = new Background({ sleep: sleepOn(clock) })
      process.other({ clock, background })
      await until(async () => {
        await clock.pass(2_000)
        return (await process.ask('ann', 'GET', `/assets/${later}`)).json.Result.Status === 'Active'
      })
      await background.stop()
      expect((await process.placed([absent], 'cgt-1')).size).toBe(1)
      expect((await process.list('ann')).toSorted()).toEqual([...ids.a, ...ids.b, later].toSorted())
      expect([present('a').length, present('b').length]).toEqual([2, 2])
    },
    timeoutMs,
  )

  test(
    'the work in the background for the other one does not wait for it',
    async () => {
      await using process = await open({ a: 2, b: 2 })
      const groups = [await process.groupOn('b', 'ann'), await process.groupOn('a', 'ann')] as const
      await process.list('ann')
      for (const name of ['a', 'b'] as const)
        emulator(name).faults.add({ kind: 'status', status: 503, action: 'CreateAsset', times: 9 })
      const stuck: string[] = []
      for (let at = 0; at < 9; at++) stuck.push(await process.asset('ann', groups[0], `stuck ${at}`))
      const id = await process.asset('ann', groups[1], 'goes on')
      for (const name of ['a', 'b'] as const) emulator(name).faults.clear()
      const hold = emulator('b').faults.add({ kind: 'hold', ...forever })
      // Those of the other account are due first, and all lanes wait for its answers.
      await process.clock.pass(120_000)
      const background = new Background({ sleep: sleepOn(process.clock) })
      process.other({ clock: process.clock, background, timeoutMs: 600_000 })
      await until(async () => {
        await process.clock.pass(100)
        return present('a').includes(id)
      })
      hold.remove()
      await background.stop()
      expect(stuck).toHaveLength(9)
    },
    timeoutMs,
  )
})
