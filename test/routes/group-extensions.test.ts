import { describe, expect, test } from 'bun:test'
import { adoptFace, eachKind, errorReply, ids, newAsset, newGroup, openRoutes, statusAndText } from './fixture.ts'

const notYours = errorReply(403, 'group_id does not belong to your asset groups')
const taken = errorReply(400, 'an asset group with the same Name and GroupType already exists')

describe.each(eachKind)('with an upstream of kind $kind', ({ kindOf }) => {
  test('a foreign or unknown group is 403 with every method, without an upstream call', async () => {
    await using routes = await openRoutes({ kindOf })
    const foreign = await newGroup(routes.bob, 'a')
    const nobodys = routes.emulator.library.addGroup({ name: 'a' }).id
    routes.calls()
    for (const id of [foreign, nobodys, 'nothing', '%2e%2e%2f', 'a%2fb', '%00', '%3f', '%23', 'x'.repeat(500)]) {
      const path = `/assets/groups/${id}`
      expect(statusAndText(await routes.ann.ask('GET', path))).toEqual(notYours)
      expect(statusAndText(await routes.ann.ask('PUT', path, { Name: 'mine' }))).toEqual(notYours)
      expect(statusAndText(await routes.ann.ask('PATCH', path, { Name: 'mine' }))).toEqual(notYours)
      expect(statusAndText(await routes.ann.ask('DELETE', path))).toEqual(notYours)
    }
    expect(routes.calls()).toEqual([])
  })

  test('a detail shows the group as the list does, or its record while the upstream is down', async () => {
    await using routes = await openRoutes({ kindOf })
    const id = await newGroup(routes.ann, 'a')
    const [item] = (await routes.ann.ask('GET', '/assets/groups')).json.Result.Items
    expect((await routes.ann.ask('GET', `/assets/groups/${id}`)).json.Result).toEqual(item)
    const face = await adoptFace(routes, routes.ann, 'b')
    expect((await routes.ann.ask('GET', `/assets/groups/${face}`)).json.Result).toMatchObject({ Id: face, Title: 'b' })
    routes.emulator.faults.add({ kind: 'status', status: 500 })
    const reply = await routes.ann.ask('GET', `/assets/groups/${id}`)
    expect(reply.json.Result).toMatchObject({ Id: id, Name: 'a', GroupType: 'AIGC', Description: '' })
  })

  test('a new name must be unique', async () => {
    await using routes = await openRoutes({ kindOf })
    const [a] = [await newGroup(routes.ann, 'a'), await newGroup(routes.ann, 'b')]
    const rename = (Name: string) => routes.ann.ask('PATCH', `/assets/groups/${a}`, { Name })
    routes.calls()
    expect(statusAndText(await rename('b'))).toEqual(taken)
    expect(routes.calls()).toEqual([])
    expect((await rename('a')).status).toBe(200)
    expect((await rename('c')).status).toBe(200)
    expect(ids(await routes.ann.ask('GET', '/assets/groups?Name=a'))).toEqual([])
    expect(ids(await routes.ann.ask('GET', '/assets/groups?Name=c'))).toEqual([a])
    await newGroup(routes.ann, 'a')
    expect(statusAndText(await routes.ann.ask('POST', '/assets/groups', { Name: 'c' }))).toEqual(taken)
  })

  test('of 20 concurrent renamings to one name one succeeds, and the upstream receives one call', async () => {
    await using routes = await openRoutes({ kindOf })
    const groups: string[] = []
    for (let at = 0; at < 20; at++) groups.push(await newGroup(routes.ann, `a ${at}`))
    routes.calls()
    const replies = await Promise.all(
      groups.map((id) => routes.ann.ask('PUT', `/assets/groups/${id}`, { Name: 'one' })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.map(statusAndText).filter(({ status }) => status !== 200)).toEqual(Array(19).fill(taken))
    expect(routes.calls()).toHaveLength(1)
  })

  test('a body cannot name another group than the path', async () => {
    await using routes = await openRoutes({ kindOf })
    const [own, foreign] = [await newGroup(routes.ann, 'a'), await newGroup(routes.bob, 'b')]
    routes.calls()
    const path = `/assets/groups/${own}`
    for (const key of ['Id', 'id', 'ID']) {
      expect((await routes.ann.ask('PATCH', path, { Name: 'mine', [key]: foreign })).status).toBe(400)
    }
    for (const key of ['GroupId', 'groupid', 'group_id', 'GroupIds']) {
      expect(statusAndText(await routes.ann.ask('PATCH', path, { Name: 'mine', [key]: foreign }))).toEqual(notYours)
      const nested = { Name: 'mine', Deep: [{ [key]: [foreign] }] }
      expect((await routes.ann.ask('PUT', path, nested)).status).toBe(403)
    }
    expect(routes.calls()).toEqual([])
    expect((await routes.ann.ask('PATCH', path, { Name: 'mine', Id: own, GroupId: own })).status).toBe(200)
  })

  test('a change has the same limits as a creation', async () => {
    await using routes = await openRoutes({ kindOf })
    const path = `/assets/groups/${await newGroup(routes.ann, 'a')}`
    const change = async (body: object) => statusAndText(await routes.ann.ask('PATCH', path, body))
    expect(await change({ Name: '' })).toEqual(errorReply(400, 'Name is required'))
    expect(await change({ Name: 'n'.repeat(65) })).toEqual(errorReply(400, 'Name must be at most 64 characters'))
    const long = { Description: 'd'.repeat(301) }
    expect(await change(long)).toEqual(errorReply(400, 'Description must be at most 300 characters'))
  })

  test('deleting a group deletes its assets and frees its name', async () => {
    await using routes = await openRoutes({ kindOf })
    const id = await newGroup(routes.ann, 'a')
    const asset = await newAsset(routes.ann, id)
    expect((await routes.ann.ask('DELETE', `/assets/groups/${id}`)).status).toBe(200)
    expect(statusAndText(await routes.ann.ask('DELETE', `/assets/groups/${id}`))).toEqual(notYours)
    expect((await routes.ann.ask('GET', `/assets/${asset}`)).status).toBe(403)
    expect(ids(await routes.ann.ask('GET', '/assets/groups'))).toEqual([])
    await newGroup(routes.ann, 'a')
  })

  test('a group stays when the upstream rejects the deletion', async () => {
    await using routes = await openRoutes({ kindOf })
    const face = await adoptFace(routes, routes.ann, 'a')
    const reply = await routes.ann.ask('DELETE', `/assets/groups/${face}`)
    expect([reply.status, reply.json.ResponseMetadata.Error.Code]).toEqual([403, 'OperationDenied.LivenessFace'])
    expect(ids(await routes.ann.ask('GET', '/assets/groups?GroupType=LivenessFace'))).toEqual([face])
  })

  test('a group that the upstream has already deleted can be deleted', async () => {
    await using routes = await openRoutes({ kindOf })
    const id = await newGroup(routes.ann, 'a')
    routes.emulator.library.deleteGroup(id)
    expect((await routes.ann.ask('DELETE', `/assets/groups/${id}`)).status).toBe(404)
    expect(ids(await routes.ann.ask('GET', '/assets/groups'))).toEqual([])
    await newGroup(routes.ann, 'a')
  })
})
