import { describe, expect, test } from 'bun:test'
import { type Fixture, newAsset, newGroup, openFixture, until } from './fixture.ts'

const leave = async (fixture: Fixture, method: string, path: string, body?: object): Promise<void> => {
  const hold = fixture.emulator.faults.add({ kind: 'hold', when: 'after' })
  const caller = new AbortController()
  const asked = fetch(`${fixture.url}/api/media/proxy${path}`, {
    method,
    headers: { authorization: `Bearer ${fixture.ann.token}` },
    body: body && JSON.stringify(body),
    signal: caller.signal,
  }).catch(() => 'gone')
  await hold.waitForHits()
  caller.abort()
  expect(await asked).toBe('gone')
}

describe('when the caller disconnects', () => {
  test.each([
    ['GET', '/assets'],
    ['GET', '/assets/groups'],
    ['GET', '/assets/{asset}'],
    ['PATCH', '/assets/{asset}'],
    ['DELETE', '/assets/{asset}'],
  ])('the upstream call of %s %s is aborted', async (method, template) => {
    await using fixture = await openFixture()
    const asset = await newAsset(fixture.ann, await newGroup(fixture.ann, 'a'))
    fixture.calls()
    await leave(fixture, method, template.replace('{asset}', asset), method === 'PATCH' ? { Name: 'b' } : undefined)
    await until(() => fixture.emulator.calls[0]?.aborted === true)
  })

  test('the creation of an asset continues and is recorded', async () => {
    await using fixture = await openFixture()
    const group = await newGroup(fixture.ann, 'a')
    await leave(fixture, 'POST', '/assets', { GroupId: group, URL: 'https://files.example/a.png', AssetType: 'Image' })
    const [asset] = fixture.emulator.library.assets()
    for (const { release } of fixture.emulator.faults.list()) release()
    await until(async () => (await fixture.store.groupOfAsset(asset?.id ?? '')) === group)
    const creation = fixture.calls().find(({ action }) => action === 'CreateAsset')
    expect([creation?.status, creation?.aborted]).toEqual([200, undefined])
  })
})
