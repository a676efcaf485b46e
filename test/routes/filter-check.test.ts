import { describe, expect, test } from 'bun:test'
import { FilterCheck, nobodysGroup } from '../../plugins/asset-library/lists/filter-check.ts'
import { ListChangedError } from '../../plugins/pagination-normalizer/index.ts'
import { readJson } from '../../plugins/shared/json/json.ts'
import { type Operation, type Upstream, UpstreamRejectedError } from '../../plugins/upstream-proxy/index.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { newGroup, openFixture, repeatedKinds } from './fixture.ts'

const none = '{"Result":{"Items":[],"TotalCount":0}}'

const openCheck = (answer: () => string) => {
  const clock = new VirtualClock()
  const calls: Operation[] = []
  const upstream: Upstream = {
    faceVerification: 'none',
    async send(operation) {
      calls.push(operation)
      const text = answer()
      return {
        status: 200,
        headers: new Headers(),
        bytes: new TextEncoder().encode(text),
        json: readJson(text),
        fields: {},
      }
    },
  }
  const filter = new FilterCheck(upstream, clock)
  return {
    clock,
    calls,
    filter,
    check: async (groupType = 'AIGC') => filter.check({ groupType, groups: [nobodysGroup] }, 1, {}),
  }
}

const rejection = (status: number) => () => {
  throw new UpstreamRejectedError({ status, headers: new Headers(), bytes: new Uint8Array() })
}

describe('the check that an upstream applies GroupIds', () => {
  test('lists a group that nobody has, once in ten minutes for each type, and once for requests at the same time', async () => {
    const { clock, calls, check } = openCheck(() => none)
    await Promise.all([check(), check(), check('LivenessFace'), check()])
    await clock.pass(599_000)
    await check()
    expect(calls).toMatchObject([
      { action: 'ListAssets', query: { groupType: 'AIGC', groups: [nobodysGroup] } },
      { action: 'ListAssets', query: { groupType: 'LivenessFace', groups: [nobodysGroup] } },
    ])
    await clock.pass(1_000)
    await check()
    expect(calls).toHaveLength(3)
  })

  test.each(['{"Result":{"Items":[{"Id":"a"}],"TotalCount":1}}', '{"Result":{"Items":[],"TotalCount":31}}'])(
    'fails for %s, and is repeated',
    async (text) => {
      const { calls, check } = openCheck(() => text)
      for (let nth = 1; nth <= 2; nth++) {
        expect(await check().catch((error: unknown) => error)).toBeInstanceOf(ListChangedError)
        expect(calls).toHaveLength(nth)
      }
    },
  )

  test.each([400, 403, 404])('succeeds when the upstream rejects the group with %d', async (status) => {
    const { calls, check } = openCheck(rejection(status))
    await check()
    await check()
    expect(calls).toHaveLength(1)
  })

  test.each([401, 429, 500, 503])('proves nothing when the upstream responds with %d', async (status) => {
    const { calls, check } = openCheck(rejection(status))
    for (let nth = 1; nth <= 2; nth++) expect(await check().catch((error: unknown) => error)).toMatchObject({ status })
    expect(calls).toHaveLength(2)
  })
})

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kindOf }) => {
  test('a total that a page does not show costs one more call at first, and none later', async () => {
    await using fixture = await openFixture({ kindOf })
    const group = await newGroup(fixture.ann, 'a')
    for (let nth = 0; nth < 30; nth++) fixture.emulator.library.addAsset({ groupId: group, createTime: nth * 1_000 })
    fixture.calls()
    const counts: number[] = []
    for (const query of ['', 'PageNumber=2', 'PageSize=30', 'PageSize=7&PageNumber=3']) {
      const { json } = await fixture.ann.ask('GET', `/assets?${query}`)
      expect(json.Result.TotalCount).toBe(30)
      counts.push(fixture.calls().length)
    }
    expect(counts).toEqual([2, 1, 1, 1])
  })
})
