import { describe, expect, test } from 'bun:test'
import { adoptFace, errorReply, newAsset, newGroup, openFixture, repeatedKinds, statusAndText } from './fixture.ts'

const notYours = errorReply(403, 'asset not found in your asset group')
const group403 = errorReply(403, 'group_id does not belong to your asset groups')

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kind, kindOf }) => {
  test('a foreign and an unknown asset have the same response, and nothing changes upstream', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob, emulator } = fixture
    const foreign = await newAsset(bob, await newGroup(bob, 'a'))
    const nobodys = emulator.library.addAsset({ groupId: emulator.library.addGroup({ name: 'a' }).id }).id
    const before = emulator.library.assets()
    fixture.calls()
    const absent = 'asset-20260101000000-zzzzz'
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body = method[0] === 'P' ? { Name: 'mine' } : undefined
      const responses = []
      for (const id of [foreign, nobodys, absent, 'nothing'])
        responses.push(await ann.ask(method, `/assets/${id}`, body))
      const [first] = responses
      for (const response of responses) {
        expect(statusAndText(response)).toEqual(notYours)
        expect([...response.headers.keys()]).toEqual([...(first?.headers.keys() ?? [])])
      }
    }
    expect(new Set(fixture.calls().map(({ action }) => action))).toEqual(new Set(['GetAsset']))
    expect(emulator.library.assets()).toEqual(before)
  })

  test('an id is data, never a path', async () => {
    await using fixture = await openFixture({ kindOf })
    const foreign = await newAsset(fixture.bob, await newGroup(fixture.bob, 'a'))
    const own = await newAsset(fixture.ann, await newGroup(fixture.ann, 'a'))
    const odd = [
      ...[`..%2f${foreign}`, `${own}%2f..%2f${foreign}`, `%2e%2e%2fgroups`, 'groups%2fx', `${own}%00`, `${own}%3fx=1`],
      ...[
        `${own}%23`,
        `${own}%20`,
        `%20${own}`,
        `${own}%0d%0aHost:x`,
        `${own}%5c..`,
        `${own}%2c${foreign}`,
        '%25',
        '%ff',
      ],
      ...['x'.repeat(257), '%F0%9F%90%88'.repeat(65), '%EF%BF%BD'],
    ]
    fixture.calls()
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body = method[0] === 'P' ? { Name: 'mine' } : undefined
      for (const id of odd)
        expect(statusAndText(await fixture.ann.ask(method, `/assets/${id}`, body))).toEqual(notYours)
    }
    expect(fixture.calls()).toEqual([])
  })

  test('an encoded path segment is data and selects no route', async () => {
    await using fixture = await openFixture({ kindOf })
    for (const path of ['/assets/%67roups', '/assets/group%73']) {
      for (const method of ['GET', 'DELETE']) {
        expect(statusAndText(await fixture.ann.ask(method, path))).toEqual(notYours)
      }
    }
    // In a path, the id would name the list of groups. So only `ark`, which sends ids in bodies, calls the upstream.
    const calls = fixture.calls().map(({ action, body }) => [action, JSON.parse(body).Id])
    expect(calls).toEqual(kind === 'ark' ? Array(4).fill(['GetAsset', 'groups']) : [])
  })

  test('a detail makes one call and returns the upstream’s body byte for byte', async () => {
    await using fixture = await openFixture({ kindOf, checked: 'own' })
    const group = await newGroup(fixture.ann, 'a')
    const id = await newAsset(fixture.ann, group)
    fixture.calls()
    const body = `{"Result" : {"GroupId":"${group}", "Id":"${id}","Size": 12345678901234567890, "Ratio":1.0,\n"A":{"b":[ ]}}} `
    fixture.emulator.faults.add({ kind: 'status', status: 200, body })
    expect(statusAndText(await fixture.ann.ask('GET', `/assets/${id}`))).toEqual({ status: 200, text: body })
    expect(fixture.calls().map(({ action }) => action)).toEqual(['GetAsset'])
  })

  test('a detail works for assets in groups of both types', async () => {
    await using fixture = await openFixture({ kindOf })
    const face = await adoptFace(fixture, fixture.ann, 'a')
    const id = await newAsset(fixture.ann, face, { GroupType: 'LivenessFace', Name: 'me' })
    const reply = await fixture.ann.ask('GET', `/assets/${id}`)
    expect(reply.json.Result).toMatchObject({ Id: id, GroupId: face, Name: 'me', AssetType: 'Image', Status: 'Active' })
  })

  test('an upstream response with another asset, or without one, is invalid', async () => {
    await using fixture = await openFixture({ kindOf })
    const group = await newGroup(fixture.ann, 'a')
    const id = await newAsset(fixture.ann, group)
    for (const Result of [undefined, null, {}, { Id: id }, { Id: 'other', GroupId: group }, { GroupId: 7 }]) {
      fixture.emulator.faults.add({ kind: 'status', status: 200, body: JSON.stringify({ Result }) })
      const reply = await fixture.ann.ask('GET', `/assets/${id}`)
      expect(statusAndText(reply)).toEqual(errorReply(502, 'upstream returned an invalid response'))
    }
  })

  test('only the former owner learns that an asset was deleted', async () => {
    await using fixture = await openFixture({ kindOf })
    const id = await newAsset(fixture.ann, await newGroup(fixture.ann, 'a'))
    expect((await fixture.ann.ask('DELETE', `/assets/${id}`)).status).toBe(200)
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body = method[0] === 'P' ? { Name: 'mine' } : undefined
      const reply = await fixture.ann.ask(method, `/assets/${id}`, body)
      expect([reply.status, reply.json.ResponseMetadata.Error.Code]).toEqual([404, 'NotFound.asset_id'])
      expect(statusAndText(await fixture.bob.ask(method, `/assets/${id}`, body))).toEqual(notYours)
    }
  })

  test.each(['PUT', 'PATCH'])('%s keeps its method upstream, without ProjectName', async (method) => {
    await using fixture = await openFixture({ kindOf })
    const id = await newAsset(fixture.ann, await newGroup(fixture.ann, 'a'))
    fixture.calls()
    const body = '{"ProjectName":"mine", "Big" : 12345678901234567890,"Name":"new"}'
    expect((await fixture.ann.ask(method, `/assets/${id}`, body)).status).toBe(200)
    const [call] = fixture.calls()
    if (kind === 'rest')
      expect([call?.method, call?.body]).toEqual([method, '{"Big" : 12345678901234567890,"Name":"new"}'])
    else expect(call?.body).toBe(`{"Big" : 12345678901234567890,"Name":"new","Id":"${id}","ProjectName":"default"}`)
    expect((await fixture.ann.ask('GET', `/assets/${id}`)).json.Result.Name).toBe('new')
  })

  test('a body cannot name another asset than the path', async () => {
    await using fixture = await openFixture({ kindOf })
    const [own, foreign] = [await newGroup(fixture.ann, 'a'), await newGroup(fixture.bob, 'a')]
    const [mine, other] = [await newAsset(fixture.ann, own), await newAsset(fixture.bob, foreign)]
    fixture.calls()
    for (const key of ['Id', 'id', 'ID', 'iD']) {
      const reply = await fixture.ann.ask('PATCH', `/assets/${mine}`, { Name: 'x', [key]: other })
      expect(reply.status).toBe(400)
    }
    expect((await fixture.ann.ask('PATCH', `/assets/${mine}`, `{"Id":"${mine}","id":"${other}"}`)).status).toBe(400)
    expect(fixture.calls()).toEqual([])
    expect((await fixture.ann.ask('PATCH', `/assets/${mine}`, { Name: 'x', Id: mine })).status).toBe(200)
  })

  test.each(['PUT', 'PATCH'])('a group id in the body of a %s must be the caller’s, at any depth', async (method) => {
    await using fixture = await openFixture({ kindOf })
    const [own, foreign] = [await newGroup(fixture.ann, 'a'), await newGroup(fixture.bob, 'a')]
    const id = await newAsset(fixture.ann, own)
    fixture.calls()
    const change = async (body: unknown) => statusAndText(await fixture.ann.ask(method, `/assets/${id}`, body))
    for (const key of ['GroupId', 'groupId', 'GROUPID', 'group_id', 'group-id', 'GroupIds']) {
      for (const bad of [foreign, 'nothing', 7, null, [foreign], {}]) {
        expect(await change({ Name: 'x', [key]: bad })).toEqual(group403)
        expect(await change({ Name: 'x', Deep: [{ [key]: bad }] })).toEqual(group403)
      }
      expect((await change({ Name: 'x', [key]: own })).status).toBe(200)
    }
    fixture.calls()
    for (const twice of [`"GroupId":"${foreign}","GroupId":"${own}"`, `"GroupId":"${own}","groupid":"${own}"`]) {
      expect((await change(`{"Name":"x",${twice}}`)).status).toBe(400)
      expect((await change(`{"Name":"x","Deep":{${twice}}}`)).status).toBe(400)
    }
    expect(fixture.calls()).toEqual([])
  })

  test('a change returns the upstream’s status and body, also an empty one', async () => {
    await using fixture = await openFixture({ kindOf })
    const id = await newAsset(fixture.ann, await newGroup(fixture.ann, 'a'))
    for (const [method, action] of [
      ['PATCH', 'UpdateAsset'],
      ['DELETE', 'DeleteAsset'],
    ] as const) {
      const body = method === 'PATCH' ? { Name: 'x' } : undefined
      for (const [status, text] of [
        [200, ' {"a": 1.0}'],
        [202, '{}'],
        [200, ''],
        [409, 'no'],
        [500, '<p>'],
      ] as const) {
        fixture.emulator.faults.add({ kind: 'status', status, body: text, action })
        expect(statusAndText(await fixture.ann.ask(method, `/assets/${id}`, body))).toEqual({ status, text })
      }
    }
  })
})
