import { describe, expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json/json.ts'
import {
  describeGroups,
  findGroups,
  type Operation,
  type Upstream,
  type UpstreamResponse,
} from '../../plugins/upstream-proxy/index.ts'
import { failure, ownGroup } from './scripted-upstream.ts'

const groups = (count: number) => Array.from({ length: count }, (_, at) => ownGroup(`g-${at}`))

/** An upstream in memory that records its calls. */
const upstreamWith = (answer: (operation: Operation, call: number) => string): Upstream & { calls: Operation[] } => {
  const calls: Operation[] = []
  return {
    calls,
    faceVerification: 'none',
    async send(operation) {
      calls.push(operation)
      const text = answer(operation, calls.length)
      return {
        status: 200,
        headers: new Headers(),
        bytes: new TextEncoder().encode(text),
        json: readJson(text),
        fields: undefined,
      } as UpstreamResponse
    },
  }
}

const page = (ids: readonly string[], token?: string | null) =>
  JSON.stringify({ Result: { Items: ids.map((Id) => ({ Id, Name: 'n' })), NextToken: token } })

const ids = ({ items }: { items: readonly { get(key: string): { string(): string | undefined } | undefined }[] }) =>
  items.map((item) => item.get('Id')?.string())

describe('reading groups from the upstream', () => {
  test('without ids makes no call, because the upstream would list all groups', async () => {
    const upstream = upstreamWith(() => page(['unknown']))
    expect(await describeGroups(upstream, 'AIGC', [])).toEqual({ items: [], responses: [] })
    expect(upstream.calls).toEqual([])
  })

  test('requests at most 100 groups per call, and each group once', async () => {
    for (const count of [1, 99, 100, 101, 200, 250]) {
      const upstream = upstreamWith((_, call) => page([`g-${call}`]))
      const listed = await describeGroups(upstream, 'AIGC', groups(count))
      const calls = upstream.calls.map((operation) => ('query' in operation ? operation.query.groups : []))
      expect(calls).toHaveLength(Math.ceil(count / 100))
      expect(Math.max(...calls.map((chunk) => chunk.length))).toBeLessThanOrEqual(100)
      expect(calls.flat()).toEqual(groups(count))
      expect(ids(listed)).toEqual(calls.map((_, at) => `g-${at + 1}`))
    }
  })

  test('passes the caller with every call', async () => {
    const caller = { headers: new Headers() }
    const given: unknown[] = []
    const upstream: Upstream = {
      faceVerification: 'none',
      async send(_, who) {
        given.push(who)
        return { status: 200, headers: new Headers(), bytes: new Uint8Array(), json: readJson(page([])), fields: {} }
      },
    }
    await describeGroups(upstream, 'AIGC', groups(101), caller)
    expect(given).toEqual([caller, caller])
  })
})

describe('an endless list is not followed forever', () => {
  test('a repeated cursor', async () => {
    const upstream = upstreamWith((_, call) => page([`i-${call}`], call % 2 ? 'odd' : 'even'))
    expect(await failure(findGroups(upstream, 'AIGC', 'n'))).toMatchObject({ status: 502 })
    expect(upstream.calls.length).toBeLessThan(10)
  })

  test('new cursors for the same page or for empty pages', async () => {
    for (const items of [['same'], []]) {
      const upstream = upstreamWith((_, call) => page(items, `t${call}`))
      expect(await failure(findGroups(upstream, 'AIGC', 'n'))).toMatchObject({ status: 502 })
    }
  })

  test('but empty pages in the middle are skipped', async () => {
    const upstream = upstreamWith((_, call) => (call < 50 ? page([], `t${call}`) : page(['last'])))
    expect(ids({ items: await findGroups(upstream, 'AIGC', 'n') })).toEqual(['last'])
  })
})

describe('the items of a list response', () => {
  for (const [text, good] of [
    ['{"Result":{"Items":null}}', true],
    ['{"Result":{}}', true],
    ['{"Result":{"TotalCount":0}}', true],
    ['{"Result":null}', false],
    ['{}', false],
    ['{"Result":{"Items":{}}}', false],
    ['{"Result":{"Items":"x"}}', false],
    ['{"Items":[]}', false],
  ] as const) {
    test(`${text} is ${good ? 'an empty list' : 'invalid'}`, async () => {
      const listing = describeGroups(
        upstreamWith(() => text),
        'AIGC',
        groups(1),
      )
      if (good) expect((await listing).items).toEqual([])
      else expect(await failure(listing)).toMatchObject({ message: 'upstream returned an invalid response' })
    })
  }
})

describe('a search for groups by name', () => {
  test('reads all pages and keeps exact matches only', async () => {
    const upstream = upstreamWith((_, call) =>
      JSON.stringify({
        Result: {
          Items: [{ Id: `x-${call}`, Name: 'name' }, { Id: `y-${call}`, Name: 'name 2' }, { Id: `z-${call}` }],
          NextToken: call < 3 ? `t${call}` : undefined,
        },
      }),
    )
    const found = await findGroups(upstream, 'AIGC', 'name')
    expect(found.map((group) => group.get('Id')?.string())).toEqual(['x-1', 'x-2', 'x-3'])
    expect(upstream.calls).toMatchObject([
      { action: 'FindAssetGroups', groupType: 'AIGC', name: 'name', sortBy: undefined, nextToken: undefined },
      { nextToken: 't1' },
      { nextToken: 't2' },
    ])
  })

  const from = { time: 1_000, instantOf: (time: string | undefined) => (time === undefined ? undefined : Number(time)) }

  /** A list with pages of these times. */
  const timed = (field: string, ...times: readonly (readonly (number | undefined)[])[]) =>
    upstreamWith((_, call) =>
      JSON.stringify({
        Result: {
          Items: times[call - 1]?.map((time, at) => ({ Id: `${call}-${at}`, Name: 'n', [field]: time?.toString() })),
          NextToken: call < times.length ? `t${call}` : undefined,
        },
      }),
    )

  test.each(['CreateTime', 'UpdateTime'] as const)('ends at the first page with an earlier %s', async (by) => {
    const upstream = timed(by, [3_000, 2_000], [1_000, 999], [998, 997], [996])
    expect(ids({ items: await findGroups(upstream, 'AIGC', 'n', { ...from, by }) })).toEqual([
      '1-0',
      '1-1',
      '2-0',
      '2-1',
    ])
    expect(upstream.calls).toMatchObject([{ sortBy: by }, { sortBy: by }])
  })

  test('reads all pages of an upstream that does not sort, or has items without a time', async () => {
    for (const first of [
      [500, 3_000],
      [3_000, undefined],
      [undefined, 500],
    ]) {
      const upstream = timed('CreateTime', first, [400], [5_000])
      expect(await findGroups(upstream, 'AIGC', 'n', { ...from, by: 'CreateTime' })).toHaveLength(4)
    }
  })
})
