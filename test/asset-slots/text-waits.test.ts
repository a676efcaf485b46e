import { expect, test } from 'bun:test'
import { repeatOnDatabases } from '../support/database.ts'
import { until } from '../support/until.ts'
import { addWaitingTask, ownIdIn } from './fixture.ts'
import { callNumber, completeStream, openStream, openTextProcess, twoAssets } from './text-fixture.ts'
import { failing, jsonOf, textLibrary } from './text-library.ts'

const timeoutMs = 60_000

repeatOnDatabases('text requests that wait for assets', ({ kind }) => {
  const library = textLibrary(kind)
  const { open, ownIdsIn } = library

  test(
    'keep their assets as long as they last, and those of a killed process until its lease ends',
    async () => {
      await using process = await open(1)
      const [first, second] = await twoAssets(process, 'leases')
      const response = process.chat('ann', [first])
      const stream = openStream()
      ;(await callNumber(process, 1)).answer(stream.response)
      await response
      // The clock of the other process goes on, and with it nobody renews the lease of a killed one.
      const other = openTextProcess(process.store, library.emulator, { slots: { slots: 1 } })
      for (let minute = 0; minute < 5; minute++) {
        for (let third = 0; third < 3; third++) {
          const renewed = JSON.stringify([...process.uses])
          await process.clock.pass(20_000)
          await other.clock.pass(20_000)
          await until(() => JSON.stringify([...process.uses]) !== renewed)
        }
        expect(await other.assets.place?.([second], 'cgt-2')).toBeUndefined()
      }
      await other.clock.pass(90_000)
      expect((await other.placed([second], 'cgt-2')).size).toBe(1)
      stream.end()
      await (await response).text()
    },
    timeoutMs,
  )

  test(
    'wait no longer than 30 seconds, or the time that the client has',
    async () => {
      await using process = await open(1)
      const [first, second] = await twoAssets(process, 'time')
      const running = process.chat('ann', [first])
      await callNumber(process, 1)
      for (const [headers, ms] of [
        [{}, 30_000],
        [{ 'x-stainless-timeout': '10' }, 9_000],
      ] as const) {
        const waiting = process.chat('ann', [second], { stream: false, headers })
        await until(async () => (await process.waiting()) > 0)
        let isOver = false
        void waiting.then(() => {
          isOver = true
        })
        await process.clock.pass(ms - 1)
        expect(isOver).toBe(false)
        await process.clock.pass(1)
        const response = await waiting
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
        expect((await jsonOf(response)).error).toMatchObject({ code: 'assets_not_ready', type: 'server_error' })
        await until(async () => (await process.waiting()) === 0)
      }
      expect(process.calls).toHaveLength(1)
      process.calls[0]?.answer(completeStream())
      await (await running).text()
    },
    timeoutMs,
  )

  test(
    'take turns: who has fewer slots in use goes first, and then who has waited longer',
    async () => {
      await using process = await open(2)
      const anns = await process.added('ann', await process.group('ann', 'turns'), 5)
      const bobs = await process.added('bob', await process.group('bob', 'turns'), 2)
      const chat = (user: string, id = '') => process.chat(user, [id], { stream: false })
      const responding = [chat('ann', anns[0])]
      await callNumber(process, 1)
      responding.push(chat('ann', anns[1]))
      await callNumber(process, 2)
      const queue = [
        ['ann', anns[2]],
        ['ann', anns[3]],
        ['ann', anns[4]],
        ['bob', bobs[0]],
        ['bob', bobs[1]],
      ] as const
      for (const [index, [user, id]] of queue.entries()) {
        responding.push(chat(user, id))
        await until(async () => (await process.waiting()) === index + 1)
        await process.clock.pass(1)
      }
      const order: (string | undefined)[] = []
      for (const ended of queue.keys()) {
        process.calls[ended]?.answer(completeStream())
        order.push(...ownIdsIn(await callNumber(process, ended + 3)))
      }
      expect(order).toEqual([bobs[0], anns[2], bobs[1], anns[3], anns[4]])
      for (const call of process.calls) call.answer(completeStream())
      for (const response of responding) expect((await response).status).toBe(200)
    },
    timeoutMs,
  )

  test(
    'take nothing that an older video task waits for, and a task nothing that an older request waits for',
    async () => {
      await using process = await open(2)
      const ids = await process.added('ann', await process.group('ann', 'older'), 4)
      const [a = '', b = '', c = '', d = ''] = ids
      const task = 'cgt-20200101000000-0000'
      await addWaitingTask(process.store, task, 'ann', [a, b])
      await process.placed([a, b], task)
      const waiting = process.chat('ann', [c, d])
      await until(async () => (await process.waiting()) > 0)
      expect(
        library.emulator.library
          .assets()
          .map(({ name }) => ownIdIn(name))
          .toSorted(),
      ).toEqual([a, b].toSorted())
      await process.store.cancelWaitingVideoTask('ann', task, 1)
      await process.clock.pass(1_000)
      const call = await callNumber(process, 1)
      expect(ownIdsIn(call)).toEqual([c, d])
      call.answer(completeStream())
      await (await waiting).text()
    },
    timeoutMs,
  )

  test(
    'are refused for a failed asset, for one that is deleted meanwhile, and for more than there are slots',
    async () => {
      await using process = await open(1)
      const group = await process.group('ann', 'refused')
      const ids = await process.added('ann', group, 2)
      const [first = '', second = ''] = ids
      const tooMany = await process.chat('ann', ids)
      expect([tooMany.status, (await jsonOf(tooMany)).error]).toEqual([
        429,
        expect.objectContaining({ code: 'QuotaExceeded', param: 'messages[0].content[1].image_url.url' }),
      ])
      const running = process.chat('ann', [second])
      const call = await callNumber(process, 1)
      const waiting = process.chat('ann', [first])
      await until(async () => (await process.waiting()) > 0)
      expect((await process.ask('ann', 'DELETE', `/assets/${first}`)).status).toBe(200)
      call.answer(completeStream())
      await (await running).text()
      const deleted = await waiting
      expect([deleted.status, (await jsonOf(deleted)).error.code]).toEqual([400, 'asset_not_found'])
      const bad = await process.asset('ann', group, 'bad')
      failing.add(bad)
      await process.ask('ann', 'GET', `/assets/${bad}`)
      const failed = await process.chat('ann', [bad])
      expect([failed.status, (await jsonOf(failed)).error.code]).toEqual([400, 'asset_failed'])
      await until(() => process.uses.size === 0)
      expect(process.calls).toHaveLength(1)
    },
    timeoutMs,
  )
})
