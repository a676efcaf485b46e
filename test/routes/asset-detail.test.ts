import { describe, expect, test } from 'bun:test'
import { adoptFace, eachKind, errorReply, newAsset, newGroup, openRoutes, statusAndText } from './fixture.ts'

const notYours = errorReply(403, 'asset not found in your asset group')
const group403 = errorReply(403, 'group_id does not belong to your asset groups')

describe.each(eachKind)('with an upstream of kind $kind', ({ kind, kindOf }) => {
  test('a foreign and an unknown asset have the same response, and nothing changes upstream', async () => {
    await using routes = await openRoutes({ kindOf })
    const { ann, bob, emulator } = routes
    const foreign = await newAsset(bob, await newGroup(bob, 'a'))
    const nobodys = emulator.library.addAsset({ groupId: emulator.library.addGroup({ name: 'a' }).id }).id
    const before = emulator.library.assets()
    routes.calls()
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
    expect(new Set(routes.calls().map(({ action }) => action))).toEqual(new Set(['GetAsset']))
    expect(emulator.library.assets()).toEqual(before)
  })

  test('an id is data, never a path', async () => {
    await using routes = await openRoutes({ kindOf })
    const foreign = await newAsset(routes.bob, await newGroup(routes.bob, 'a'))
    const own = await newAsset(routes.ann, await newGroup(routes.ann, 'a'))
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
    routes.calls()
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body = method[0] === 'P' ? { Name: 'mine' } : undefined
      for (const id of odd) expect(statusAndText(await routes.ann.ask(method, `/assets/${id}`, body))).toEqual(notYours)
    }
    expect(routes.calls()).toEqual([])
  })

  test('a detail makes one call and returns the upstream’s body byte for byte', async () => {
    await using routes = await openRoutes({ kindOf })
    const group = await newGroup(routes.ann, 'a')
    const id = await newAsset(routes.ann, group)
    routes.calls()
    const body = `{"Result" : {"GroupId":"${group}", "Id":"${id}","Size": 12345678901234567890, "Ratio":1.0,\n"A":{"b":[ ]}}} `
    routes.emulator.faults.add({ kind: 'status', status: 200, body })
    expect(statusAndText(await routes.ann.ask('GET', `/assets/${id}`))).toEqual({ status: 200, text: body })
    expect(routes.calls().map(({ action }) => action)).toEqual(['GetAsset'])
  })

  test('a detail works for assets in groups of both types', async () => {
    await using routes = await openRoutes({ kindOf })
    const face = await adoptFace(routes, routes.ann, 'a')
    const id = await newAsset(routes.ann, face, { GroupType: 'LivenessFace', Name: 'me' })
    const reply = await routes.ann.ask('GET', `/assets/${id}`)
    expect(reply.json.Result).toMatchObject({ Id: id, GroupId: face, Name: 'me', AssetType: 'Image', Status: 'Active' })
  })

  test('an upstream response with another asset, or without one, is invalid', async () => {
    await using routes = await openRoutes({ kindOf })
    const group = await newGroup(routes.ann, 'a')
    const id = await newAsset(routes.ann, group)
    for (const Result of [undefined, null, {}, { Id: id }, { Id: 'other', GroupId: group }, { GroupId: 7 }]) {
      routes.emulator.faults.add({ kind: 'status', status: 200, body: JSON.stringify({ Result }) })
      const reply = await routes.ann.ask('GET', `/assets/${id}`)
      expect(statusAndText(reply)).toEqual(errorReply(502, 'upstream returned an invalid response'))
    }
  })

  test('only the former owner learns that an asset was deleted', async () => {
    await using routes = await openRoutes({ kindOf })
    const id = await newAsset(routes.ann, await newGroup(routes.ann, 'a'))
    expect((await routes.ann.ask('DELETE', `/assets/${id}`)).status).toBe(200)
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body = method[0] === 'P' ? { Name: 'mine' } : undefined
      const reply = await routes.ann.ask(method, `/assets/${id}`, body)
      expect([reply.status, reply.json.ResponseMetadata.Error.Code]).toEqual([404, 'NotFound.asset_id'])
      expect(statusAndText(await routes.bob.ask(method, `/assets/${id}`, body))).toEqual(notYours)
    }
  })

  test.each(['PUT', 'PATCH'])('%s keeps its method upstream, without ProjectName', async (method) => {
    await using routes = await openRoutes({ kindOf })
    const id = await newAsset(routes.ann, await newGroup(routes.ann, 'a'))
    routes.calls()
    const body = '{"ProjectName":"mine", "Big" : 12345678901234567890,"Name":"new"}'
    expect((await routes.ann.ask(method, `/assets/${id}`, body)).status).toBe(200)
    const [call] = routes.calls()
    if (kind === 'rest')
      expect([call?.method, call?.body]).toEqual([method, '{"Big" : 12345678901234567890,"Name":"new"}'])
    else expect(call?.body).toBe(`{"Big" : 12345678901234567890,"Name":"new","Id":"${id}","ProjectName":"default"}`)
    expect((await routes.ann.ask('GET', `/assets/${id}`)).json.Result.Name).toBe('new')
  })

  test('a body cannot name another asset than the path', async () => {
    await using routes = await openRoutes({ kindOf })
    const [own, foreign] = [await newGroup(routes.ann, 'a'), await newGroup(routes.bob, 'a')]
    const [mine, other] = [await newAsset(routes.ann, own), await newAsset(routes.bob, foreign)]
    routes.calls()
    for (const key of ['Id', 'id', 'ID', 'iD']) {
      const reply = await routes.ann.ask('PATCH', `/assets/${mine}`, { Name: 'x', [key]: other })
      expect(reply.status).toBe(400)
    }
    expect((await routes.ann.ask('PATCH', `/assets/${mine}`, `{"Id":"${mine}","id":"${other}"}`)).status).toBe(400)
    expect(routes.calls()).toEqual([])
    expect((await routes.ann.ask('PATCH', `/assets/${mine}`, { Name: 'x', Id: mine })).status).toBe(200)
  })

  test.each(['PUT', 'PATCH'])('a group id in the body of a %s must be the caller’s, at any depth', async (method) => {
    await using routes = await openRoutes({ kindOf })
    const [own, foreign] = [await newGroup(routes.ann, 'a'), await newGroup(routes.bob, 'a')]
    const id = await newAsset(routes.ann, own)
    routes.calls()
    const change = async (body: unknown) => statusAndText(await routes.ann.ask(method, `/assets/${id}`, body))
    for (const key of ['GroupId', 'groupId', 'GROUPID', 'group_id', 'group-id', 'GroupIds']) {
      for (const bad of [foreign, 'nothing', 7, null, [foreign], {}]) {
        expect(await change({ Name: 'x', [key]: bad })).toEqual(group403)
        expect(await change({ Name: 'x', Deep: [{ [key]: bad }] })).toEqual(group403)
      }
      expect((await change({ Name: 'x', [key]: own })).status).toBe(200)
    }
    routes.calls()
    for (const twice of [`"GroupId":"${foreign}","GroupId":"${own}"`, `"GroupId":"${own}","groupid":"${own}"`]) {
      expect((await change(`{"Name":"x",${twice}}`)).status).toBe(400)
      expect((await change(`{"Name":"x","Deep":{${twice}}}`)).status).toBe(400)
    }
    expect(routes.calls()).toEqual([])
  })

  test('a change returns the upstream’s status and body, also an empty one', async () => {
    await using routes = await openRoutes({ kindOf })
    const id = await newAsset(routes.ann, await newGroup(routes.ann, 'a'))
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
        routes.emulator.faults.add({ kind: 'status', status, body: text, action })
        expect(statusAndText(await routes.ann.ask(method, `/assets/${id}`, body))).toEqual({ status, text })
      }
    }
  })
})
