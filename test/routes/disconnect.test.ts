import { describe, expect, test } from 'bun:test'
import { newAsset, newGroup, openRoutes, type Routes, until } from './fixture.ts'

const leave = async (routes: Routes, method: string, path: string, body?: object): Promise<void> => {
  const hold = routes.emulator.faults.add({ kind: 'hold', when: 'after' })
  const caller = new AbortController()
  const asked = fetch(`${routes.url}/api/media/proxy${path}`, {
    method,
    headers: { authorization: `Bearer ${routes.ann.token}` },
    body: body && JSON.stringify(body),
    signal: caller.signal,
  }).catch(() => 'gone')
  await hold.struck()
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
    await using routes = await openRoutes()
    const asset = await newAsset(routes.ann, await newGroup(routes.ann, 'a'))
    routes.calls()
    await leave(routes, method, template.replace('{asset}', asset), method === 'PATCH' ? { Name: 'b' } : undefined)
    await until(() => routes.emulator.calls[0]?.aborted === true)
  })

  test('the creation of an asset continues and is recorded', async () => {
    await using routes = await openRoutes()
    const group = await newGroup(routes.ann, 'a')
    await leave(routes, 'POST', '/assets', { GroupId: group, URL: 'https://files.example/a.png', AssetType: 'Image' })
    const [asset] = routes.emulator.library.assets()
    for (const { release } of routes.emulator.faults.list()) release()
    await until(async () => (await routes.store.groupOfAsset(asset?.id ?? '')) === group)
    const creation = routes.calls().find(({ action }) => action === 'CreateAsset')
    expect([creation?.status, creation?.aborted]).toEqual([200, undefined])
  })
})
