import { describe, expect, test } from 'bun:test'
import { openStore } from '../../src/store/index.ts'
import {
  adoptFace,
  eachKind,
  errorReply,
  ids,
  messageOf,
  newAsset,
  newGroup,
  openFixture,
  picture,
  statusAndText,
} from './fixture.ts'

const notYours = errorReply(403, 'group_id does not belong to your asset groups')

describe.each(eachKind)('with an upstream of kind $kind', ({ kind, kindOf }) => {
  test('a creation without GroupId is 400', async () => {
    await using fixture = await openFixture({ kindOf })
    const own = await newGroup(fixture.ann, 'a')
    fixture.calls()
    for (const GroupId of [undefined, null, '', 7, [own], { Id: own }, true]) {
      const reply = await fixture.ann.ask('POST', '/assets', { ...picture, GroupId })
      expect(reply.status).toBe(400)
      expect(messageOf(reply)).toMatch(/^group_id is required/)
    }
    for (const key of ['groupid', 'group_id', 'GROUPID']) {
      const reply = await fixture.ann.ask('POST', '/assets', { ...picture, [key]: own })
      expect(messageOf(reply)).toMatch(/^group_id is required/)
    }
    expect(fixture.calls()).toEqual([])
  })

  test('a creation requires a group of the caller with the given GroupType', async () => {
    await using fixture = await openFixture({ kindOf })
    const own = await newGroup(fixture.ann, 'a')
    const face = await adoptFace(fixture, fixture.ann, 'a')
    const foreign = await newGroup(fixture.bob, 'a')
    const nobodys = fixture.emulator.library.addGroup({ name: 'a' }).id
    fixture.calls()
    const create = async (body: object) =>
      statusAndText(await fixture.ann.ask('POST', '/assets', { ...picture, ...body }))
    for (const GroupId of [
      foreign,
      nobodys,
      face,
      'nothing',
      '\0',
      '../groups',
      `${own}/`,
      ` ${own}`,
      'x'.repeat(999),
    ]) {
      expect(await create({ GroupId })).toEqual(notYours)
      expect(await create({ GroupId, GroupType: 'AIGC' })).toEqual(notYours)
    }
    for (const GroupId of [own, foreign, nobodys]) {
      expect(await create({ GroupId, GroupType: 'LivenessFace' })).toEqual(notYours)
    }
    for (const GroupType of ['aigc', 'Any', '', null, 7, ['AIGC']]) {
      expect((await create({ GroupId: own, GroupType })).status).toBe(400)
    }
    expect(fixture.calls()).toEqual([])
    await newAsset(fixture.ann, own)
    await newAsset(fixture.ann, own, { GroupType: 'AIGC' })
    await newAsset(fixture.ann, face, { GroupType: 'LivenessFace' })
  })

  test('GroupType and ProjectName are removed, and all else is forwarded unchanged', async () => {
    await using fixture = await openFixture({ kindOf })
    const own = await newGroup(fixture.ann, 'a')
    fixture.calls()
    const kept = `"Zeta" : [1.0, 12345678901234567890 ,-0.0e+2],\n "GroupId":"${own}", "AssetType":"Image"`
    const rest = `"URL":"https:\\/\\/files.example/a.png","A":{"b":null,"\\u0061":[ ]}`
    const body = `{ ${kept},"GroupType":"AIGC" , "ProjectName":"mine", ${rest} }`
    expect((await fixture.ann.ask('POST', '/assets', body)).status).toBe(200)
    const project = kind === 'ark' ? ',"ProjectName":"default"' : ''
    const pieces = [...kept.split(/,\s*(?=")/), rest].map((piece) => piece.trim())
    const sent = fixture.calls()[0]?.body ?? ''
    for (const piece of pieces) expect(sent).toContain(piece)
    expect(JSON.parse(sent)).toEqual(JSON.parse(`{${kept},${rest}${project}}`))
  })

  test('a body with two group ids is 400, in any spelling of the keys', async () => {
    await using fixture = await openFixture({ kindOf })
    const [own, foreign] = [await newGroup(fixture.ann, 'a'), await newGroup(fixture.bob, 'a')]
    fixture.calls()
    const rest = `"URL":"${picture.URL}","AssetType":"Image"`
    for (const key of [
      'GroupId',
      'groupId',
      'groupid',
      'GROUPID',
      'group_id',
      'Group-Id',
      '\\u0047roupId',
      'ＧroupId',
    ]) {
      for (const members of [`"GroupId":"${own}","${key}":"${foreign}"`, `"${key}":"${foreign}","GroupId":"${own}"`]) {
        expect((await fixture.ann.ask('POST', '/assets', `{${members},${rest}}`)).status).toBe(400)
      }
    }
    const typed = `{"GroupId":"${own}","GroupType":"AIGC","grouptype":"LivenessFace",${rest}}`
    expect((await fixture.ann.ask('POST', '/assets', typed)).status).toBe(400)
    expect(fixture.calls()).toEqual([])
  })

  test('a nested group id must be the caller’s, too', async () => {
    await using fixture = await openFixture({ kindOf })
    const [own, foreign] = [await newGroup(fixture.ann, 'a'), await newGroup(fixture.bob, 'a')]
    fixture.calls()
    const nested = (id: unknown) => [
      { More: { GroupId: id } },
      { More: [{ deep: { group_id: id } }] },
      { GroupIds: [own, id] },
      { Filter: { GroupIds: id } },
    ]
    for (const id of [foreign, 'nothing', 7, null]) {
      for (const more of nested(id)) {
        const reply = await fixture.ann.ask('POST', '/assets', { GroupId: own, ...picture, ...more })
        expect(statusAndText(reply)).toEqual(notYours)
      }
    }
    expect(fixture.calls()).toEqual([])
    for (const more of nested(own)) await newAsset(fixture.ann, own, more)
  })

  test('the upstream validates everything else', async () => {
    await using fixture = await openFixture({ kindOf })
    const own = await newGroup(fixture.ann, 'a')
    for (const body of [
      {},
      { ...picture, URL: 'http://a.example' },
      { ...picture, AssetType: 'Text' },
      { URL: picture.URL },
    ]) {
      const reply = await fixture.ann.ask('POST', '/assets', { GroupId: own, ...body })
      expect(reply.status).toBe(400)
      expect(reply.json.ResponseMetadata.Error.Code).toMatch(/^(?:Missing|Invalid)Parameter/)
    }
  })
})

test('when recording fails, the asset is created and belongs to the caller', async () => {
  const store = openStore('sqlite::memory:')
  const recordAsset = () => Promise.reject(new Error('SQLITE_FULL'))
  await using fixture = await openFixture({ store: { ...store, recordAsset } })
  const own = await newGroup(fixture.ann, 'a')
  const asset = await newAsset(fixture.ann, own)
  expect(ids(await fixture.ann.ask('GET', '/assets'))).toEqual([asset])
  expect((await fixture.ann.ask('GET', `/assets/${asset}`)).status).toBe(200)
})

test('a creation without a response is 502 and is not retried', async () => {
  for (const kind of ['reset-before', 'reset-after', 'hang'] as const) {
    // Only a silent upstream needs the timeout. The others get theirs however slow the machine is.
    await using fixture = await openFixture({ timeoutMs: kind === 'hang' ? 2_000 : 300_000 })
    const own = await newGroup(fixture.ann, 'a')
    fixture.calls()
    fixture.emulator.faults.add({ kind, action: 'CreateAsset' })
    const reply = await fixture.ann.ask('POST', '/assets', { GroupId: own, ...picture })
    expect(statusAndText(reply)).toEqual(errorReply(502, 'Seedance upstream unavailable'))
    expect(fixture.calls()).toHaveLength(1)
  }
})
