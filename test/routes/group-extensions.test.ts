import { describe, expect, test } from 'bun:test'
import { adoptFace, errorReply, ids, newAsset, newGroup, openFixture, repeatedKinds, statusAndText } from './fixture.ts'

const notYours = errorReply(403, 'group_id does not belong to your asset groups')
const taken = errorReply(400, 'an asset group with the same Name and GroupType already exists')
const unknown = errorReply(
  400,
  'the outcome of an earlier request for the same Name and GroupType is not known yet; try again shortly',
)

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kindOf }) => {
  test('a foreign or unknown group is 403 with every method, without an upstream call', async () => {
    await using fixture = await openFixture({ kindOf })
    const foreign = await newGroup(fixture.bob, 'a')
    const nobodys = fixture.emulator.library.addGroup({ name: 'a' }).id
    fixture.calls()
    for (const id of [foreign, nobodys, 'nothing', '%2e%2e%2f', 'a%2fb', '%00', '%3f', '%23', 'x'.repeat(500)]) {
      const path = `/assets/groups/${id}`
      expect(statusAndText(await fixture.ann.ask('GET', path))).toEqual(notYours)
      expect(statusAndText(await fixture.ann.ask('PUT', path, { Name: 'mine' }))).toEqual(notYours)
      expect(statusAndText(await fixture.ann.ask('PATCH', path, { Name: 'mine' }))).toEqual(notYours)
      expect(statusAndText(await fixture.ann.ask('DELETE', path))).toEqual(notYours)
    }
    expect(fixture.calls()).toEqual([])
  })

  test('a detail shows the group as the list does, or its record while the upstream is down', async () => {
    await using fixture = await openFixture({ kindOf })
    const id = await newGroup(fixture.ann, 'a')
    const [item] = (await fixture.ann.ask('GET', '/assets/groups')).json.Result.Items
    expect((await fixture.ann.ask('GET', `/assets/groups/${id}`)).json.Result).toEqual(item)
    const face = await adoptFace(fixture, fixture.ann, 'b')
    expect((await fixture.ann.ask('GET', `/assets/groups/${face}`)).json.Result).toMatchObject({ Id: face, Title: 'b' })
    fixture.emulator.faults.add({ kind: 'status', status: 500 })
    const reply = await fixture.ann.ask('GET', `/assets/groups/${id}`)
    expect(reply.json.Result).toMatchObject({ Id: id, Name: 'a', GroupType: 'AIGC', Description: '' })
  })

  test('a new name must be unique', async () => {
    await using fixture = await openFixture({ kindOf })
    const [a] = [await newGroup(fixture.ann, 'a'), await newGroup(fixture.ann, 'b')]
    const rename = (Name: string) => fixture.ann.ask('PATCH', `/assets/groups/${a}`, { Name })
    fixture.calls()
    expect(statusAndText(await rename('b'))).toEqual(taken)
    expect(fixture.calls()).toEqual([])
    expect((await rename('a')).status).toBe(200)
    expect((await rename('c')).status).toBe(200)
    expect(ids(await fixture.ann.ask('GET', '/assets/groups?Name=a'))).toEqual([])
    expect(ids(await fixture.ann.ask('GET', '/assets/groups?Name=c'))).toEqual([a])
    await newGroup(fixture.ann, 'a')
    expect(statusAndText(await fixture.ann.ask('POST', '/assets/groups', { Name: 'c' }))).toEqual(taken)
  })

  test('while a group is renamed no other name reaches the upstream, not even the one that it has', async () => {
    await using fixture = await openFixture({ kindOf })
    const id = await newGroup(fixture.ann, 'a')
    const rename = (Name: string) => fixture.ann.ask('PATCH', `/assets/groups/${id}`, { Name })
    fixture.calls()
    const held = fixture.emulator.faults.add({ kind: 'hold', when: 'after', action: 'UpdateAssetGroup' })
    const first = rename('b')
    await held.waitForHits()
    for (const name of ['a', 'b', 'c']) expect(statusAndText(await rename(name))).toEqual(unknown)
    held.release()
    expect((await first).status).toBe(200)
    expect(fixture.calls()).toHaveLength(1)
    expect(fixture.emulator.library.groups().map(({ name }) => name)).toEqual(['b'])
    expect(ids(await fixture.ann.ask('GET', '/assets/groups?Name=b'))).toEqual([id])
    expect((await rename('c')).status).toBe(200)
  })

  test('of 20 concurrent renamings to one name one succeeds, and the upstream receives one call', async () => {
    await using fixture = await openFixture({ kindOf })
    const groups: string[] = []
    for (let at = 0; at < 20; at++) groups.push(await newGroup(fixture.ann, `a ${at}`))
    fixture.calls()
    const replies = await Promise.all(
      groups.map((id) => fixture.ann.ask('PUT', `/assets/groups/${id}`, { Name: 'one' })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.map(statusAndText).filter(({ status }) => status !== 200)).toEqual(Array(19).fill(taken))
    expect(fixture.calls()).toHaveLength(1)
  })

  test('a body cannot name another group than the path', async () => {
    await using fixture = await openFixture({ kindOf })
    const [own, foreign] = [await newGroup(fixture.ann, 'a'), await newGroup(fixture.bob, 'b')]
    fixture.calls()
    const path = `/assets/groups/${own}`
    for (const key of ['Id', 'id', 'ID']) {
      expect((await fixture.ann.ask('PATCH', path, { Name: 'mine', [key]: foreign })).status).toBe(400)
    }
    for (const key of ['GroupId', 'groupid', 'group_id', 'GroupIds']) {
      expect(statusAndText(await fixture.ann.ask('PATCH', path, { Name: 'mine', [key]: foreign }))).toEqual(notYours)
      const nested = { Name: 'mine', Deep: [{ [key]: [foreign] }] }
      expect((await fixture.ann.ask('PUT', path, nested)).status).toBe(403)
    }
    expect(fixture.calls()).toEqual([])
    expect((await fixture.ann.ask('PATCH', path, { Name: 'mine', Id: own, GroupId: own })).status).toBe(200)
  })

  test('a change has the same limits as a creation', async () => {
    await using fixture = await openFixture({ kindOf })
    const path = `/assets/groups/${await newGroup(fixture.ann, 'a')}`
    const change = async (body: object) => statusAndText(await fixture.ann.ask('PATCH', path, body))
    expect(await change({ Name: '' })).toEqual(errorReply(400, 'Name is required'))
    expect(await change({ Name: 'n'.repeat(65) })).toEqual(errorReply(400, 'Name must be at most 64 characters'))
    const long = { Description: 'd'.repeat(301) }
    expect(await change(long)).toEqual(errorReply(400, 'Description must be at most 300 characters'))
  })

  test('deleting a group deletes its assets and frees its name', async () => {
    await using fixture = await openFixture({ kindOf })
    const id = await newGroup(fixture.ann, 'a')
    const asset = await newAsset(fixture.ann, id)
    expect((await fixture.ann.ask('DELETE', `/assets/groups/${id}`)).status).toBe(200)
    expect(statusAndText(await fixture.ann.ask('DELETE', `/assets/groups/${id}`))).toEqual(notYours)
    expect((await fixture.ann.ask('GET', `/assets/${asset}`)).status).toBe(403)
    expect(ids(await fixture.ann.ask('GET', '/assets/groups'))).toEqual([])
    await newGroup(fixture.ann, 'a')
  })

  test('a group stays when the upstream rejects the deletion', async () => {
    await using fixture = await openFixture({ kindOf })
    const face = await adoptFace(fixture, fixture.ann, 'a')
    const reply = await fixture.ann.ask('DELETE', `/assets/groups/${face}`)
    expect([reply.status, reply.json.ResponseMetadata.Error.Code]).toEqual([403, 'OperationDenied.LivenessFace'])
    expect(ids(await fixture.ann.ask('GET', '/assets/groups?GroupType=LivenessFace'))).toEqual([face])
  })

  test('a group that the upstream has already deleted can be deleted', async () => {
    await using fixture = await openFixture({ kindOf })
    const id = await newGroup(fixture.ann, 'a')
    fixture.emulator.library.deleteGroup(id)
    expect((await fixture.ann.ask('DELETE', `/assets/groups/${id}`)).status).toBe(404)
    expect(ids(await fixture.ann.ask('GET', '/assets/groups'))).toEqual([])
    await newGroup(fixture.ann, 'a')
  })
})
