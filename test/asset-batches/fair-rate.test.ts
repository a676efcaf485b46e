import { expect, test } from 'bun:test'
import type { PermitRequest, RateLimitStore } from '../../plugins/upstream-proxy/index.ts'
import { memoryRateLimitStore } from '../../plugins/upstream-proxy/index.ts'
import { newGroup, picture } from '../routes/fixture.ts'
import { itemOf, newBatch, openBatchFixture, until } from './fixture.ts'

test('a batch of 500 items delays a single creation of another user by one call at most', async () => {
  const memory = memoryRateLimitStore()
  /** The users for whom a place was asked, in their order. */
  const asked: string[] = []
  const noting =
    <Result>(take: (wanted: PermitRequest) => Promise<Result>) =>
    (wanted: PermitRequest) => {
      if (wanted.action === 'CreateAsset') asked.push(wanted.user)
      return take(wanted)
    }
  const store: RateLimitStore = { ...memory, take: noting(memory.take), takeInTurn: noting(memory.takeInTurn) }
  await using fixture = await openBatchFixture('sqlite', {
    limits: { perSecond: { CreateAsset: 2 }, queueMs: 60_000, store },
  })
  const { ann, bob, emulator } = fixture
  const [group, other] = [await newGroup(ann, 'many'), await newGroup(bob, 'one')]
  await newBatch(
    ann,
    group,
    Array.from({ length: 500 }, (_, nth) => itemOf(`picture ${nth}`)),
  )
  const callers = () =>
    emulator.calls
      .filter(({ action }) => action === 'CreateAsset')
      .map(({ json }) => ((json as { GroupId: string }).GroupId === group ? 'ann' : 'bob'))
  for (let round = 0; round < 3; round++) {
    // While the upstream holds a call of the batch, the other user comes.
    const held = emulator.faults.add({ kind: 'hold', action: 'CreateAsset', times: 1 })
    const before = callers().length
    await until(() => callers().length > before)
    const [calls, places] = [callers().length, asked.filter((user) => user === bob.id).length]
    const single = bob.ask('POST', '/assets', { GroupId: other, ...picture, Name: `single ${round}` })
    await until(() => asked.filter((user) => user === bob.id).length > places)
    held.release()
    expect((await single).status).toBe(200)
    // From its arrival to its call.
    const until1 = callers().indexOf('bob', calls)
    expect(until1 - calls).toBeLessThanOrEqual(1)
  }
  expect(callers().filter((caller) => caller === 'bob')).toHaveLength(3)
}, 120_000)
