import { describe, expect, test } from 'bun:test'
import { readJson } from '../../plugins/shared/json.ts'
import {
  type Answer,
  collectItems,
  findGroups,
  type Operation,
  type Upstream,
} from '../../plugins/upstream-proxy/index.ts'
import { failure, own } from './scripted.ts'

const query = { groupType: 'AIGC', sortBy: 'CreateTime', sortOrder: 'Desc' } as const
const groups = (count: number) => Array.from({ length: count }, (_, at) => own<'group'>(`g-${at}`))

/** An upstream in memory, and what it was asked. */
const answering = (answer: (operation: Operation, call: number) => string): Upstream & { asked: Operation[] } => {
  const asked: Operation[] = []
  return {
    asked,
    async send(operation) {
      asked.push(operation)
      const text = answer(operation, asked.length)
      return {
        status: 200,
        headers: new Headers(),
        bytes: new TextEncoder().encode(text),
        json: readJson(text),
      } as Answer
    },
  }
}

const page = (ids: readonly string[], token?: string | null) =>
  JSON.stringify({ Result: { Items: ids.map((Id) => ({ Id, Name: 'n' })), NextToken: token } })

const ids = ({ items }: { items: readonly { get(key: string): { string(): string | undefined } | undefined }[] }) =>
  items.map((item) => item.get('Id')?.string())

describe('everything in some groups is collected', () => {
  test('no groups, no call: an upstream would take it for all of them', async () => {
    const upstream = answering(() => page(['stranger']))
    expect(await collectItems(upstream, 'ListAssets', [], query)).toEqual({ items: [], answers: [] })
    expect(upstream.asked).toEqual([])
  })

  test('one page, one call', async () => {
    const upstream = answering(() => page(['a', 'b']))
    const listed = await collectItems(upstream, 'ListAssets', groups(100), query)
    expect(ids(listed)).toEqual(['a', 'b'])
    expect(listed.answers).toHaveLength(1)
    expect(upstream.asked).toHaveLength(1)
  })

  test('never more than a hundred groups a call, and every group once', async () => {
    for (const count of [1, 99, 100, 101, 200, 250]) {
      const upstream = answering(() => page([]))
      await collectItems(upstream, 'ListAssetGroups', groups(count), query)
      const asked = upstream.asked.map((operation) => ('query' in operation ? operation.query.groups : []))
      expect(asked).toHaveLength(Math.ceil(count / 100))
      expect(Math.max(...asked.map((chunk) => chunk.length))).toBeLessThanOrEqual(100)
      expect(asked.flat()).toEqual(groups(count))
    }
  })

  test('each chunk is walked to its end, with the cursor that it gave', async () => {
    const tokens = ['t1', 't2', undefined, 'u1', '', null]
    const upstream = answering((_, call) => page([`i-${call}`], tokens[call - 1] ?? undefined))
    const listed = await collectItems(upstream, 'ListAssets', groups(150), query)
    expect(ids(listed)).toEqual(['i-1', 'i-2', 'i-3', 'i-4', 'i-5'])
    expect(upstream.asked.map((operation) => ('query' in operation ? operation.query.nextToken : ''))).toEqual([
      undefined,
      't1',
      't2',
      undefined,
      'u1',
    ])
  })

  test('the caller goes along with every call', async () => {
    const caller = { headers: new Headers() }
    const given: unknown[] = []
    const upstream: Upstream = {
      async send(_, who) {
        given.push(who)
        return { status: 200, headers: new Headers(), bytes: new Uint8Array(), json: readJson(page([])) }
      },
    }
    await collectItems(upstream, 'ListAssets', groups(101), query, caller)
    expect(given).toEqual([caller, caller])
  })

  test('empty pages on the way are gone through', async () => {
    const upstream = answering((_, call) => (call < 50 ? page([], `t${call}`) : page(['last'])))
    expect(ids(await collectItems(upstream, 'ListAssets', groups(1), query))).toEqual(['last'])
  })

  test('a large page is no trouble', async () => {
    const text = page(Array.from({ length: 200_000 }, (_, at) => String(at)))
    const upstream = answering(() => text)
    expect((await collectItems(upstream, 'ListAssets', groups(1), query)).items).toHaveLength(200_000)
  })
})

describe('a list that has no end is not followed for ever', () => {
  test('a cursor that comes again', async () => {
    const upstream = answering((_, call) => page([`i-${call}`], call % 2 ? 'odd' : 'even'))
    expect(await failure(collectItems(upstream, 'ListAssets', groups(1), query))).toMatchObject({ status: 502 })
    expect(upstream.asked.length).toBeLessThan(10)
  })

  test('ever new cursors for the same page, or for nothing', async () => {
    for (const items of [['same'], []]) {
      const upstream = answering((_, call) => page(items, `t${call}`))
      expect(await failure(collectItems(upstream, 'ListAssets', groups(1), query))).toMatchObject({ status: 502 })
    }
  })
})

describe('a list has items', () => {
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
    test(`${text} is ${good ? 'an empty list' : 'none'}`, async () => {
      const listing = collectItems(
        answering(() => text),
        'ListAssets',
        groups(1),
        query,
      )
      if (good) expect((await listing).items).toEqual([])
      else expect(await failure(listing)).toMatchObject({ message: 'upstream returned an invalid response' })
    })
  }
})

describe('groups of the account are found by their exact name', () => {
  test('over all pages, whatever else the upstream deems alike', async () => {
    const upstream = answering((_, call) =>
      JSON.stringify({
        Result: {
          Items: [{ Id: `x-${call}`, Name: 'name' }, { Id: `y-${call}`, Name: 'name 2' }, { Id: `z-${call}` }],
          NextToken: call < 3 ? `t${call}` : undefined,
        },
      }),
    )
    const found = await findGroups(upstream, 'AIGC', 'name')
    expect(found.map((group) => group.get('Id')?.string())).toEqual(['x-1', 'x-2', 'x-3'])
    expect(upstream.asked).toMatchObject([
      { action: 'FindAssetGroups', groupType: 'AIGC', name: 'name', nextToken: undefined },
      { nextToken: 't1' },
      { nextToken: 't2' },
    ])
  })
})
