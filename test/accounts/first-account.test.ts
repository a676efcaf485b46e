import { expect, test } from 'bun:test'
import { checkFirstAccount, FirstAccountError } from '../../src/server/first-account.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { eachEmptyDatabase } from '../support/database.ts'
import type { NotListening } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'

const accountsOf = (...names: readonly string[]) => names.map((name) => ({ name }))

const run = (store: Store, ...args: readonly string[]) => runCommand(store, ['account', 'first', ...args])

eachEmptyDatabase('the first account', (tested) => {
  test('is recorded by the first start with several, and no other one may be the first, until the record is changed', async () => {
    const [store, other] = [1, 2].map(() => openStore(tested.url, { deadlineMs: 60_000 })) as [Store, Store]
    await store.migrate()
    try {
      await checkFirstAccount(undefined, store)
      expect(await run(store)).toEqual({ status: 1, out: [], err: ['no first account is recorded'] })
      // Two processes at once with different settings: one of them starts.
      const starts = await Promise.allSettled([
        checkFirstAccount(accountsOf('cn-1', 'cn-2'), store),
        checkFirstAccount(accountsOf('cn-2', 'cn-1'), other),
      ])
      expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const first = (await store.firstAccount()) ?? ''
      const second = first === 'cn-1' ? 'cn-2' : 'cn-1'
      await checkFirstAccount(accountsOf(first, second, 'three'), other)
      await checkFirstAccount(accountsOf(first), other)
      await checkFirstAccount(undefined, other)
      for (const wrong of [accountsOf(second, first), accountsOf('three')])
        await expect(checkFirstAccount(wrong, store)).rejects.toThrow(FirstAccountError)
      expect((await run(store)).out).toEqual([first])
      expect(await run(store, 'no name')).toMatchObject({ status: 1, out: [] })
      expect(await run(store, 'china')).toEqual({ status: 0, out: [], err: [] })
      await checkFirstAccount(accountsOf('china', second), other)
      await expect(checkFirstAccount(accountsOf(first), store)).rejects.toThrow('must be china')
      expect((await store.listAudit({ action: 'account.first' })).map(({ target }) => target)).toEqual(['china'])
    } finally {
      await Promise.all([store.close(), other.close()])
    }
  }, 60_000)
})

test('a server with another first account does not start, and says why', async () => {
  await using fixture = await openServerFixture('sqlite')
  const { url, key } = fixture.emulator.rest
  const list = (...names: readonly string[]) => JSON.stringify(names.map((name) => ({ name, url, keyEnv: 'ONE_KEY' })))
  const environment = {
    ...{ MEDIA_UPSTREAM_URL: undefined, MEDIA_UPSTREAM_KEY: undefined, ONE_KEY: key },
  }
  const server = await fixture.start({ ...environment, MEDIA_UPSTREAMS: list('cn-1', 'cn-2') })
  await server.kill('SIGTERM')
  const failed = await fixture.start({ ...environment, MEDIA_UPSTREAMS: list('cn-2', 'cn-1') }).then(
    () => undefined,
    (error: unknown) => error as NotListening,
  )
  expect([failed?.status, failed?.stderr]).toEqual([
    1,
    expect.stringContaining('sluice could not start: the first account of MEDIA_UPSTREAMS is cn-2, but must be cn-1'),
  ])
  const again = await fixture.start({ ...environment, MEDIA_UPSTREAMS: list('cn-1', 'cn-2', 'cn-3') })
  expect((await fetch(`${again.url}/healthz`)).status).toBe(200)
}, 120_000)
