import { expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import type { TextObject, UsageEntry } from '../../plugins/text-generation/index.ts'
import {
  createBackgroundUsageRecorder,
  pollBackgroundResponses,
} from '../../plugins/text-generation/objects/background-responses.ts'
import { openStore } from '../../src/store/index.ts'
import { sleepOn, VirtualClock } from '../support/virtual-clock.ts'

test('a background response that the upstream never returns delays the usage of no other', async () => {
  await using fixture = await open()
  const { clock, users, record } = fixture
  pollBackgroundResponses(
    {
      ...record,
      retrieve: ({ user }, signal) =>
        user === users[0]
          ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
          : Promise.resolve({ status: 'completed', usage: { input_tokens: 1, output_tokens: 1 } }),
    },
    fixture.background,
  )
  await clock.pass(60_000)
  expect(fixture.entries.map(({ user }) => user).toSorted()).toEqual(users.slice(1).toSorted())
})

test.each(['never', 'with an error'])(
  'ten background responses that the upstream answers %s delay the usage of no other',
  async (how) => {
    await using fixture = await open(20)
    const { clock, users, record } = fixture
    const poisoned = new Set(users.slice(0, 10))
    pollBackgroundResponses(
      {
        ...record,
        retrieve({ user }, signal) {
          if (!poisoned.has(user)) return Promise.resolve({ status: 'completed' })
          if (how !== 'never') return Promise.reject(new Error('no response'))
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        },
      },
      fixture.background,
    )
    await clock.pass(how === 'never' ? 70_000 : 1_000)
    expect(fixture.entries.map(({ user }) => user).toSorted()).toEqual(users.slice(10).toSorted())
  },
)

test('a sweep that fails does not keep others from theirs, nor the polls', async () => {
  await using fixture = await open()
  const { clock, users, record, entries } = fixture
  const swept: string[] = []
  const store = {
    ...record.store,
    async sweepTextObjects() {
      throw new Error('not swept')
    },
  }
  const storedResponses = { sweepStoredResponses: async () => swept.push('stored responses') }
  pollBackgroundResponses(
    {
      ...{ ...record, store, storedResponses },
      retrieve: async () => ({ status: 'completed' }),
    },
    fixture.background,
  )
  await clock.pass(60_000)
  expect([entries.length, swept]).toEqual([users.length, ['stored responses']])
})

/** Responses of users, of which that of the first is due for the longest time. */
const open = async (count = 12) => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const clock = new VirtualClock(100)
  const users = Array.from({ length: count }, (_, index) => `user ${index}`)
  const now = clock.now()
  await store.recordTextObjects(
    users.map(
      (user, index): TextObject => ({
        ...{ kind: 'response', id: `resp_${index}`, user, token: 't', upstream: 'u', model: 'm' },
        ...{ createdAt: now, expiresAt: now + 1e9, dueAt: now - 100 + index },
      }),
    ),
  )
  const entries: UsageEntry[] = []
  const options = { store, clock, log: noLog, record: (entry: UsageEntry) => void entries.push(entry) }
  const background = new Background({ sleep: sleepOn(clock) })
  return {
    ...{ clock, users, entries, background },
    record: { ...options, recordBackground: createBackgroundUsageRecorder(options) },
    async [Symbol.asyncDispose]() {
      await background.stop()
      await store.close()
    },
  }
}
