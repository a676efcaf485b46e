import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../plugins/shared/clock.ts'
import type { Fault } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'
import {
  adoptFace,
  errorReply,
  ids,
  messageOf,
  newGroup,
  openFixture,
  repeatedKinds,
  statusAndText,
} from './fixture.ts'

const path = '/assets/groups'
const notYours = errorReply(403, 'GroupIds contain asset groups not belonging to you')

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kindOf }) => {
  test('a list contains exactly the caller’s groups of the type', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob, emulator } = fixture
    emulator.library.addGroup({ name: 'a' })
    const own = [await newGroup(ann, 'a'), await newGroup(ann, 'b')]
    const face = await adoptFace(fixture, ann, 'a')
    const others = await newGroup(bob, 'a')
    expect(ids(await ann.ask('GET', path)).toSorted()).toEqual(own.toSorted())
    expect(ids(await ann.ask('GET', `${path}?GroupType=AIGC`)).toSorted()).toEqual(own.toSorted())
    expect(ids(await ann.ask('GET', `${path}?GroupType=LivenessFace`))).toEqual([face])
    expect(ids(await bob.ask('GET', path))).toEqual([others])
    expect(ids(await bob.ask('GET', `${path}?GroupType=LivenessFace`))).toEqual([])
  })

  test('Name is matched exactly against the records', async () => {
    await using fixture = await openFixture({ kindOf })
    const cat = await newGroup(fixture.ann, 'cat')
    for (const name of ['Cat', 'cats', 'cat ', 'the cat']) await newGroup(fixture.ann, name)
    fixture.emulator.library.changeGroup(cat, { name: 'dog' })
    const reply = await fixture.ann.ask('GET', `${path}?Name=cat`)
    expect(ids(reply)).toEqual([cat])
    expect(reply.json.Result).toMatchObject({ TotalCount: 1, NextToken: '', Items: [{ Name: 'dog' }] })
    expect(ids(await fixture.ann.ask('GET', `${path}?Name=dog`))).toEqual([])
  })

  test('GroupIds select some of the caller’s groups', async () => {
    await using fixture = await openFixture({ kindOf })
    const [a, b, c] = [
      await newGroup(fixture.ann, 'a'),
      await newGroup(fixture.ann, 'b'),
      await newGroup(fixture.ann, 'c'),
    ]
    for (const query of [`GroupIds=${a},${c}`, `GroupIds=${a}&GroupIds=${c}`, `GroupIds=,${c},,${a},${a}`]) {
      expect(ids(await fixture.ann.ask('GET', `${path}?${query}`)).toSorted()).toEqual([a, c].toSorted())
    }
    expect(ids(await fixture.ann.ask('GET', `${path}?GroupIds=`))).toHaveLength(3)
    expect(ids(await fixture.ann.ask('GET', `${path}?GroupIds=,`))).toHaveLength(3)
    expect(ids(await fixture.ann.ask('GET', `${path}?GroupIds=${b}&Name=a`))).toEqual([])
  })

  test('GroupIds that are foreign or of another type are rejected without an upstream call', async () => {
    await using fixture = await openFixture({ kindOf })
    const own = await newGroup(fixture.ann, 'a')
    const foreign = await newGroup(fixture.bob, 'a')
    const nobodys = fixture.emulator.library.addGroup({ name: 'a' }).id
    const face = await adoptFace(fixture, fixture.ann, 'a')
    fixture.calls()
    for (const bad of [foreign, nobodys, face, 'nothing', own.toUpperCase(), `${own}/x`, '..', '*', '%00', '%25']) {
      for (const list of [path, '/assets']) {
        for (const given of [bad, `${own},${bad}`, `${bad},${own}`, `${own}&GroupIds=${bad}`]) {
          expect(statusAndText(await fixture.ann.ask('GET', `${list}?GroupIds=${given}`))).toEqual(notYours)
        }
      }
    }
    expect(statusAndText(await fixture.ann.ask('GET', `${path}?GroupType=LivenessFace&GroupIds=${own}`))).toEqual(
      notYours,
    )
    expect(fixture.calls()).toEqual([])
  })

  test('an empty selection makes no upstream call', async () => {
    await using fixture = await openFixture({ kindOf })
    const empty = { status: 200, text: '{"Result":{"Items":[],"NextToken":"","TotalCount":0}}' }
    for (const list of [path, '/assets']) {
      expect(statusAndText(await fixture.ann.ask('GET', list))).toEqual(empty)
      expect(statusAndText(await fixture.ann.ask('GET', `${list}?GroupType=LivenessFace&Name=a`))).toEqual(empty)
    }
    await newGroup(fixture.ann, 'a')
    fixture.calls()
    expect(statusAndText(await fixture.ann.ask('GET', `${path}?Name=b`))).toEqual(empty)
    expect(fixture.calls()).toEqual([])
  })

  const failures: readonly Fault[] = [
    ...[400, 401, 403, 404, 429, 500, 503].map((status) => ({ kind: 'status', status }) as const),
    { kind: 'reset-before', times: Number.POSITIVE_INFINITY },
    { kind: 'reset-after', times: Number.POSITIVE_INFINITY },
    { kind: 'hang' },
    { kind: 'truncate' },
    { kind: 'not-json' },
    { kind: 'empty' },
    { kind: 'redirect', location: 'http://127.0.0.1:9/' },
    { kind: 'no-data' },
    { kind: 'missing-field', field: 'Id' },
  ]

  test.each(failures.map((fault) => [JSON.stringify(fault), fault] as const))(
    'groups are listed from their records with the fault %s',
    async (_what, fault) => {
      const now = Date.UTC(2026, 2, 18, 3, 33, 32, 500)
      await using fixture = await openFixture({ kindOf, clock: { ...systemClock, now: () => now }, timeoutMs: 3_000 })
      const { ann, emulator } = fixture
      const created = await ann.ask('POST', path, { Name: 'a', Description: 'of mine' })
      const [a, b] = [created.json.Result.Id, await newGroup(ann, 'b')]
      emulator.faults.add({ ...fault, action: 'ListAssetGroups' })
      const record = (Id: string, Name: string, Description: string) => ({
        ...{ Id, Name, Description, GroupType: 'AIGC' },
        ...{ CreateTime: '2026-03-18T03:33:32.500+00:00', UpdateTime: '2026-03-18T03:33:32.500+00:00' },
      })
      const reply = await ann.ask('GET', `${path}?SortOrder=Asc`)
      expect(reply.status).toBe(200)
      expect(reply.json.Result).toEqual({
        Items: [record(a, 'a', 'of mine'), record(b, 'b', '')].toSorted((x, y) => (x.Id < y.Id ? -1 : 1)),
        NextToken: '',
        TotalCount: 2,
      })
    },
  )

  test('a group that the upstream omits is shown from its record', async () => {
    await using fixture = await openFixture({ kindOf })
    const [gone, there] = [await newGroup(fixture.ann, 'gone'), await newGroup(fixture.ann, 'there')]
    fixture.emulator.library.deleteGroup(gone)
    const { Items, TotalCount } = (await fixture.ann.ask('GET', path)).json.Result
    const titles = new Map(Items.map((item: { Id: string; Title?: string }) => [item.Id, item.Title]))
    expect([TotalCount, titles.get(gone), titles.get(there)]).toEqual([2, undefined, 'there'])
  })

  test('a missing Name is added from the record, and nothing else changes', async () => {
    await using fixture = await openFixture({ kindOf, checked: 'own' })
    const id = await newGroup(fixture.ann, 'a "name"')
    const rest = `"Zeta" : 1.0, "Id":"${id}", "Big":12345678901234567890 ,"Deep":{"b":[ ],"a":"\\u0041"}`
    const listing = (item: string) =>
      ({ kind: 'status', status: 200, body: `{"Result":{"Items":[ ${item} ]}}` }) as const
    const shown = async (item: string) => {
      fixture.emulator.faults.add(listing(item))
      return (await fixture.ann.ask('GET', path)).text
    }
    const around = (item: string) => `{"Result":{"Items":[${item}],"NextToken":"","TotalCount":1}}`
    expect(await shown(`{${rest}}`)).toBe(around(`{${rest},"Name":"a \\"name\\""}`))
    expect(await shown(`{${rest},"Name":"other"}`)).toBe(around(`{${rest},"Name":"other"}`))
    for (const none of ['""', 'null']) {
      const text = await shown(`{"Name":${none},${rest}}`)
      for (const member of ['"Name":"a \\"name\\""', ...rest.split(/ ?, ?/, 3)]) expect(text).toContain(member)
    }
  })

  test('a group that was not requested is not shown', async () => {
    await using fixture = await openFixture({ kindOf })
    const own = await newGroup(fixture.ann, 'a')
    await newGroup(fixture.bob, 'a')
    fixture.emulator.faults.add({ kind: 'foreign', action: 'ListAssetGroups' })
    const reply = await fixture.ann.ask('GET', path)
    expect(ids(reply)).toEqual([own])
    expect(reply.json.Result.TotalCount).toBe(1)
  })
})

describe.each([path, '/assets'])('an invalid parameter of %s is 400', (list) => {
  test.each([
    ...['PageSize=0', 'PageSize=101', 'PageSize=-1', 'PageSize=1.5', 'PageSize=1e1', 'PageSize=0x10', 'PageSize=ten'],
    ...['MaxResults=0', 'MaxResults=101', 'PageNumber=0', 'PageNumber=-1', 'PageNumber=99999999999999999999'],
    ...['GroupType=aigc', 'GroupType=AIGC%20', 'SortBy=createtime', 'SortBy=Name', 'SortOrder=asc', 'SortOrder=DESC'],
    ...[`Name=${'n'.repeat(65)}`, 'PageSize=1&PageSize=2', 'Name=a&Name=b', 'PageSize=5&MaxResults=101'],
    ...(list === '/assets' ? ['Statuses=active', 'Statuses=Active,Deleted'] : ['SortBy=GroupId']),
  ])('%s', async (query) => {
    await using fixture = await openFixture()
    const reply = await fixture.ann.ask('GET', `${list}?${query}`)
    expect(reply.status).toBe(400)
    expect(messageOf(reply)).toMatch(new RegExp(`^${query.match(/(\w+)=[^&]*$/)?.[1]} `))
    expect(fixture.calls()).toEqual([])
  })

  test('but an empty one counts as absent, and an unknown one is ignored', async () => {
    await using fixture = await openFixture()
    const id = await newGroup(fixture.ann, 'a')
    const empty = 'Name=&GroupType=&GroupIds=&Statuses=&SortBy=&SortOrder=&NextToken=&MaxResults=&PageNumber=&PageSize='
    const reply = await fixture.ann.ask('GET', `${list}?${empty}&ProjectName=mine&Anything=1&pagesize=0`)
    expect(ids(reply)).toEqual(list === path ? [id] : [])
  })

  test('but a Name of 64 code points beyond the BMP is valid', async () => {
    await using fixture = await openFixture()
    expect(ids(await fixture.ann.ask('GET', `${list}?Name=${encodeURIComponent('🐈'.repeat(64))}`))).toEqual([])
  })
})

test('a list is an error when the store fails', async () => {
  const store = openStore('sqlite::memory:')
  const groupsOf = () => Promise.reject(new Error('SQLITE_IOERR at select'))
  await using fixture = await openFixture({ store: { ...store, groupsOf } })
  for (const list of [path, '/assets']) {
    const reply = await fixture.ann.ask('GET', list)
    expect(reply.status).toBe(500)
    messageOf(reply)
  }
  expect(fixture.calls()).toEqual([])
})
