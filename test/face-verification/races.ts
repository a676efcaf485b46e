import { describe, expect, test } from 'bun:test'
import { eachStore, type FaceStore, openFixture, statusOf } from './fixture.ts'

/** Declares the tests of concurrent requests, each with `rounds` tasks. */
export const describeRaces = (rounds: number): void =>
  eachStore('concurrent requests', (stores) => {
    /** Two processes with one upstream, and a task of Ann. */
    const twoProcesses = async () => {
      const [one, other] = stores()
      const first = await openFixture({ store: one })
      const second = await openFixture({ store: other, vendor: first.vendor, clock: first.clock })
      const id: string = (await first.ann.create()).json.verification_id
      return { first, second, id, vendor: first.vendor, store: one as FaceStore }
    }

    describe('polls and callbacks', () => {
      test('record one group for one owner, with one request to the upstream', async () => {
        for (let round = 0; round < rounds; round++) {
          const { first, second, id, vendor, store } = await twoProcesses()
          const { group, callback } = vendor.finish()
          const replies = await Promise.all([
            first.ann.query(id),
            second.ask(callback),
            second.ann.query(id),
            first.ask(callback),
            first.ann.query(id),
          ])
          for (const { status, text } of replies) {
            expect(status).toBe(200)
            if (text.includes(group)) expect(await store.group(group)).toBeDefined()
          }
          await first.clock.pass(1_000)
          expect((await second.ann.query(id)).json).toEqual({
            verification_id: id,
            status: 'verified',
            group_id: group,
          })
          expect((await store.groupsOf('ann')).filter((each) => each.id === group).length).toBe(1)
          expect(vendor.callsTo().filter(({ body }) => body.BytedToken === vendor.token).length).toBe(1)
        }
      }, 300_000)

      test('at the expiry verify the task', async () => {
        for (let round = 0; round < rounds; round++) {
          const { first, second, id, vendor, store } = await twoProcesses()
          await first.clock.pass(1_800_000)
          const { group, callback } = vendor.finish()
          await Promise.all([first.ann.query(id), second.ask(callback), second.ann.query(id)])
          await first.clock.pass(1_000)
          const { json } = await first.ann.query(id)
          expect(json).toEqual({ verification_id: id, status: 'verified', group_id: group })
          expect(await store.group(group)).toMatchObject({ user: 'ann' })
        }
      }, 300_000)

      test('with a success and a failure: only one of the two counts', async () => {
        for (let round = 0; round < rounds; round++) {
          const { first, second, id, vendor, store } = await twoProcesses()
          const { group, callback } = vendor.finish()
          const bad = callback.replace('=10000', '=10001')
          const pages = await Promise.all([first.ask(callback), second.ask(bad), first.ask(bad)])
          const status = await statusOf(store, id)
          expect(status === 'failed' || status === 'verified').toBeTrue()
          expect((await store.group(group)) !== undefined).toBe(status === 'verified')
          for (const { text } of pages) {
            expect(text).toMatch(status === 'failed' ? /Not verified/ : /Face verified|Check received/)
          }
        }
      }, 300_000)
    })

    test('when tasks of two users yield the same group, one of the users gets it', async () => {
      for (let round = 0; round < rounds; round++) {
        const { first, second, id, vendor, store } = await twoProcesses()
        const token = vendor.token
        const other: string = (await second.bob.create()).json.verification_id
        const group = `group-one-${crypto.randomUUID()}`
        const { callback } = vendor.finish(group, token)
        const { callback: otherCallback } = vendor.finish(group)
        await Promise.all([first.ask(callback), second.ask(otherCallback)])
        const replies = [await first.ann.query(id), await second.bob.query(other)]
        expect(replies.map(({ status }) => status).sort()).toEqual([200, 500])
        const winner = replies[0]?.status === 200 ? 'ann' : 'bob'
        expect(await store.group(group)).toMatchObject({ user: winner })
      }
    }, 300_000)

    test('rest: concurrent polls record the group once', async () => {
      const [one, other] = stores()
      for (let round = 0; round < rounds; round++) {
        const first = await openFixture({ kind: 'rest', store: one })
        const second = await openFixture({
          kind: 'rest',
          store: other,
          upstream: first.restUpstream.upstream(),
          clock: first.clock,
        })
        const id: string = (await first.ann.create()).json.verification_id
        const group_id = `group-rest-${crypto.randomUUID()}`
        first.restUpstream.set(id, { status: 'verified', group_id })
        const replies = await Promise.all([
          first.ann.query(id),
          second.ann.query(id),
          first.ann.query(id),
          second.ann.query(id),
        ])
        for (const { status, json } of replies) expect([status, json.group_id]).toEqual([200, group_id])
        expect((await one.groupsOf('ann')).filter((each) => each.id === group_id).length).toBe(1)
      }
    }, 300_000)
  })
