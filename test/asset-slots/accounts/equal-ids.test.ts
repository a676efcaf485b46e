import { expect, test } from 'bun:test'
import { repeatOnDatabases } from '../../support/database.ts'
import { twoAccounts } from './fixture.ts'

repeatOnDatabases('assets from before the library had slots', ({ kind }) => {
  const suite = twoAccounts(kind)

  test('of two accounts with the same id are two: the second gets an id of the gateway, and neither is lost', async () => {
    await using process = await suite.open({ a: 3, b: 3 })
    const id = 'asset-20260101000000-aaaaa'
    const [ofAnn, ofBob] = [await process.groupOn('a', 'ann'), await process.groupOn('b', 'bob')]
    suite.emulator('a').library.addAsset({ id, groupId: ofAnn, name: 'first', url: 'https://files.example/a.png' })
    suite.emulator('b').library.addAsset({ id, groupId: ofBob, name: 'second', url: 'https://files.example/b.png' })
    expect(await process.list('ann')).toEqual([id])
    const [own = '', ...others] = await process.list('bob')
    expect([own, others]).toEqual([expect.stringMatching(/^asset-\d{14}-[0-9a-z]{5}$/), []])
    expect(own).not.toBe(id)
    const nameOf = async (user: string, asset: string) => {
      const { status, json } = await process.ask(user, 'GET', `/assets/${asset}`)
      return [status, json.Result?.Name]
    }
    expect(await nameOf('ann', id)).toEqual([200, 'first'])
    expect(await nameOf('bob', own)).toEqual([200, 'second'])
    expect([(await nameOf('bob', id))[0], (await nameOf('ann', own))[0]]).toEqual([403, 403])
    // The id stays, each takes a slot of its account, and a deletion reaches the right one.
    expect(await process.list('bob')).toEqual([own])
    const rows = await process.store.slottedAssets([id, own])
    expect(rows.map(({ account, upstreamId }) => [account, upstreamId]).toSorted()).toEqual([
      ['', id],
      ['b', id],
    ])
    expect((await process.ask('bob', 'DELETE', `/assets/${own}`)).status).toBe(200)
    expect(suite.emulator('b').library.assets()).toEqual([])
    expect(
      suite
        .emulator('a')
        .library.assets()
        .map(({ name }) => name),
    ).toEqual(['first'])
    expect(await process.list('bob')).toEqual([])
    expect(await process.list('ann')).toEqual([id])
  })
})
