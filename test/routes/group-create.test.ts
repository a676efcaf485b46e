import { describe, expect, test } from 'bun:test'
import { openStore } from '../../src/store/index.ts'
import { eachKind, errorReply, messageOf, newGroup, openFixture, statusAndText } from './fixture.ts'

const path = '/assets/groups'

describe('an invalid group is rejected without an upstream call, in the documented order', () => {
  const longName = 'n'.repeat(65)
  const longDescription = 'd'.repeat(301)
  test.each([
    [{ Description: longDescription, GroupType: 'x' }, 'Name is required'],
    [{ Name: '', Description: longDescription, GroupType: 'x' }, 'Name is required'],
    [{ Name: null }, 'Name is required'],
    [{ Name: 7 }, 'Name is required'],
    [{ Name: ['a'] }, 'Name is required'],
    [{ Name: longName, Description: longDescription, GroupType: 'x' }, 'Name must be at most 64 characters'],
    [{ Name: 'taken', Description: longDescription, GroupType: 'x' }, 'Description must be at most 300 characters'],
    [{ Name: 'taken', GroupType: 'LivenessFace' }, 'GroupType only supports AIGC'],
    [{ Name: 'taken', GroupType: 'aigc' }, 'GroupType only supports AIGC'],
    [{ Name: 'taken', GroupType: '' }, 'GroupType only supports AIGC'],
    [{ Name: 'taken', GroupType: 1 }, 'GroupType only supports AIGC'],
    [{ Name: 'taken' }, 'an asset group with the same Name and GroupType already exists'],
    [{ Name: 'taken', GroupType: 'AIGC' }, 'an asset group with the same Name and GroupType already exists'],
  ])('%#: %s', async (body, message) => {
    await using fixture = await openFixture()
    await newGroup(fixture.ann, 'taken')
    fixture.calls()
    expect(statusAndText(await fixture.ann.ask('POST', path, body))).toEqual(errorReply(400, message))
    expect(fixture.calls()).toEqual([])
  })

  test.each([
    ['a description that is no string', { Name: 'a', Description: 7 }],
    ['a name with NUL', { Name: 'a\0' }],
    ['a name with a lone surrogate', '{"Name":"a\\ud800"}'],
    ['a name twice', '{"Name":"a","Name":"b"}'],
    ['a name in two spellings', '{"Name":"a","name":"b"}'],
  ])('%s is 400', async (_what, body) => {
    await using fixture = await openFixture()
    const reply = await fixture.ann.ask('POST', path, body)
    expect(reply.status).toBe(400)
    messageOf(reply)
    expect(fixture.calls()).toEqual([])
  })
})

test('lengths count code points', async () => {
  await using fixture = await openFixture()
  const cats = { Name: '🐈'.repeat(64), Description: '🐈'.repeat(300) }
  expect((await fixture.ann.ask('POST', path, cats)).status).toBe(200)
  const more = await fixture.ann.ask('POST', path, { Name: '🐈'.repeat(65) })
  expect(statusAndText(more)).toEqual(errorReply(400, 'Name must be at most 64 characters'))
  const longer = await fixture.ann.ask('POST', path, { Name: 'a', Description: '🐈'.repeat(301) })
  expect(statusAndText(longer)).toEqual(errorReply(400, 'Description must be at most 300 characters'))
})

test('a description may be empty', async () => {
  await using fixture = await openFixture()
  expect((await fixture.ann.ask('POST', path, { Name: 'a', Description: '' })).status).toBe(200)
})

describe.each(eachKind)('with an upstream of kind $kind', ({ kind, kindOf }) => {
  test('GroupType defaults to AIGC, and ProjectName is removed', async () => {
    await using fixture = await openFixture({ kindOf })
    for (const project of ['ProjectName', 'projectName', 'PROJECTNAME']) {
      const body = { Name: project, [project]: 'mine', Filter: { [project]: 'mine', A: 1 } }
      expect((await fixture.ann.ask('POST', path, body)).status).toBe(200)
      const own = kind === 'ark' ? { ProjectName: 'default' } : {}
      expect(fixture.calls().map(({ json }) => json)).toEqual([
        { Name: project, GroupType: 'AIGC', Filter: { A: 1 }, ...own },
      ])
    }
  })

  test('of 50 concurrent creations of one name one succeeds, 49 are duplicates, and the upstream receives one call', async () => {
    await using fixture = await openFixture({ kindOf })
    const replies = await Promise.all(Array.from({ length: 50 }, () => fixture.ann.ask('POST', path, { Name: 'one' })))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    const duplicate = errorReply(400, 'an asset group with the same Name and GroupType already exists')
    expect(replies.map(statusAndText).filter(({ status }) => status !== 200)).toEqual(Array(49).fill(duplicate))
    expect(fixture.calls().map(({ action }) => action)).toEqual(['CreateAssetGroup'])
  })

  test('the response body is the upstream’s, byte for byte', async () => {
    await using fixture = await openFixture({ kindOf })
    const body = ' {"Result" : {"Id":"group-1", "Size":12345678901234567890},\n"More":1.0} '
    fixture.emulator.faults.add({ kind: 'status', status: 200, body })
    expect(statusAndText(await fixture.ann.ask('POST', path, { Name: 'a' }))).toEqual({ status: 200, text: body })
  })
})

test('two users may use the same name', async () => {
  await using fixture = await openFixture()
  await newGroup(fixture.ann, 'a')
  await newGroup(fixture.bob, 'a')
})

test('names are compared exactly', async () => {
  await using fixture = await openFixture()
  for (const name of ['a', 'A', 'a ', ' a', 'á', 'a\u0301', '%', '_']) await newGroup(fixture.ann, name)
})

test('an upstream error frees the name at once', async () => {
  await using fixture = await openFixture()
  for (const status of [400, 403, 429, 500, 503]) {
    fixture.emulator.faults.add({ kind: 'status', status })
    expect((await fixture.ann.ask('POST', path, { Name: 'a' })).status).toBe(status)
  }
  await newGroup(fixture.ann, 'a')
})

test('a creation with an unknown result keeps its name reserved', async () => {
  await using fixture = await openFixture()
  fixture.emulator.faults.add({ kind: 'reset-after' })
  const reply = await fixture.ann.ask('POST', path, { Name: 'a' })
  expect(statusAndText(reply)).toEqual(errorReply(502, 'Seedance upstream unavailable'))
  expect((await fixture.ann.ask('POST', path, { Name: 'a' })).status).toBe(400)
  expect(fixture.calls()).toHaveLength(1)
})

test('a creation without an Id in the upstream response is 502', async () => {
  await using fixture = await openFixture()
  for (const body of [
    '{}',
    '{"Result":{}}',
    '{"Result":{"Id":7}}',
    '{"Result":{"Id":""}}',
    '{"Result":{"Id":"a/b"}}',
  ]) {
    fixture.emulator.faults.add({ kind: 'status', status: 200, body })
    const reply = await fixture.ann.ask('POST', path, { Name: body })
    expect(statusAndText(reply)).toEqual(errorReply(502, 'upstream returned an invalid response'))
  }
})

test('nothing is created when the store cannot be read', async () => {
  const store = openStore('sqlite::memory:')
  await using fixture = await openFixture({
    store: { ...store, claim: () => Promise.reject(new Error('SQLITE_BUSY: database is locked')) },
  })
  const reply = await fixture.ann.ask('POST', path, { Name: 'a' })
  expect(statusAndText(reply)).toEqual(errorReply(500, 'failed to check asset group'))
  expect(fixture.calls()).toEqual([])
})

test('a failed write of the store is an error response', async () => {
  const store = openStore('sqlite::memory:')
  await using fixture = await openFixture({
    store: { ...store, confirm: () => Promise.reject(new Error('SQLITE_FULL: disk is full')) },
  })
  const reply = await fixture.ann.ask('POST', path, { Name: 'a' })
  expect(statusAndText(reply)).toEqual(errorReply(500, 'failed to record asset group'))
  expect(fixture.calls()).toHaveLength(1)
})

test('a creation continues after the caller has disconnected', async () => {
  await using fixture = await openFixture()
  const hold = fixture.emulator.faults.add({ kind: 'hold', when: 'after' })
  const caller = new AbortController()
  const asked = fetch(`${fixture.url}/api/media/proxy${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixture.ann.token}` },
    body: '{"Name":"a"}',
    signal: caller.signal,
  }).catch(() => 'gone')
  await hold.waitForHits()
  caller.abort()
  expect(await asked).toBe('gone')
  hold.release()
  let names: string[] = []
  while (names.length === 0) {
    const reply = await fixture.ann.ask('GET', path)
    names = reply.json.Result.Items.map(({ Name }: { Name: string }) => Name)
  }
  expect(names).toEqual(['a'])
  expect(fixture.calls().find(({ action }) => action === 'CreateAssetGroup')?.aborted).toBeUndefined()
})
