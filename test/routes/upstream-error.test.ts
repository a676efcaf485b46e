import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { EmulatorAction, Fault } from '../../src/emulator/index.ts'
import { startGateway, type TestGateway, type User, userAt } from '../support/gateway.ts'
import {
  eachKind,
  errorReply,
  type Fixture,
  newAsset,
  newGroup,
  openFixture,
  picture,
  repeatedKinds,
  statusAndText,
} from './fixture.ts'

interface Things {
  readonly group: string
  readonly asset: string
}

/** Every request that needs an upstream response, except lists of groups. */
const requests: readonly [EmulatorAction, (user: User, things: Things) => ReturnType<User['ask']>][] = [
  ['CreateAssetGroup', (user) => user.ask('POST', '/assets/groups', { Name: 'b' })],
  ['UpdateAssetGroup', (user, { group }) => user.ask('PATCH', `/assets/groups/${group}`, { Description: 'b' })],
  ['DeleteAssetGroup', (user, { group }) => user.ask('DELETE', `/assets/groups/${group}`)],
  ['CreateAsset', (user, { group }) => user.ask('POST', '/assets', { GroupId: group, ...picture })],
  ['ListAssets', (user) => user.ask('GET', '/assets')],
  ['GetAsset', (user, { asset }) => user.ask('GET', `/assets/${asset}`)],
  ['UpdateAsset', (user, { asset }) => user.ask('PUT', `/assets/${asset}`, { Name: 'b' })],
  ['DeleteAsset', (user, { asset }) => user.ask('DELETE', `/assets/${asset}`)],
]

const unavailable = errorReply(502, 'Seedance upstream unavailable')
const invalid = errorReply(502, 'upstream returned an invalid response')

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kindOf }) => {
  describe.each(requests)('%s', (action, ask) => {
    let fixture: Fixture
    /** A second gateway of the same users, which soon gives up. Only silence is a matter of time. */
    let impatient: TestGateway
    beforeAll(async () => {
      fixture = await openFixture({ kindOf })
      const { store, emulator } = fixture
      impatient = await startGateway({ kindOf, store, emulator, timeoutMs: 300 })
    })
    afterAll(async () => {
      await impatient[Symbol.asyncDispose]()
      await fixture[Symbol.asyncDispose]()
    })
    let users = 0
    /** A new user with a group and an asset, and a fault of the next call. */
    const open = async (fault: Fault) => {
      fixture.emulator.faults.clear()
      const user = await fixture.addUser(`user ${++users}`)
      const group = await newGroup(user, 'a')
      const asset = await newAsset(user, group)
      fixture.calls()
      fixture.emulator.faults.add({ ...fault, action })
      return { user, things: { group, asset } }
    }

    test.each([
      [400, 'application/json; charset=utf-8', '{"Error" : {"Code":"A","n":12345678901234567890}} '],
      [401, 'application/json', '{"b":1,"a":1.0}'],
      [402, 'text/plain', 'no'],
      [403, 'text/html', '<p>no</p>'],
      [409, 'application/problem+json', '[1 , 2]'],
      [429, 'application/json', '{"success":true}'],
      [500, 'text/plain;charset=gb2312', 'ein f\u00fc'],
      [503, 'application/xml', ''],
      [599, 'application/json', 'not json'],
    ])('forwards %d unchanged', async (status, type, body) => {
      const headers = {
        ...{ 'content-type': type, 'retry-after': '7', 'x-request-id': 'abc', 'x-tt-logid': 'def' },
        ...{ 'set-cookie': 'session=1', 'www-authenticate': 'Bearer realm="up"', server: 'up', location: 'http://up' },
      }
      const { user, things } = await open({ kind: 'status', status, body, headers })
      const reply = await ask(user, things)
      expect(statusAndText(reply)).toEqual({ status, text: body })
      expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      const shown = [
        'content-type',
        'retry-after',
        'x-upstream-request-id',
        'x-tt-logid',
        'set-cookie',
        'server',
        'location',
      ]
      expect([...shown, 'www-authenticate'].map((name) => reply.headers.get(name))).toEqual([
        type,
        '7',
        'abc',
        'def',
        null,
        null,
        null,
        null,
      ])
      expect(fixture.calls()).toHaveLength(1)
    })

    test.each<[string, Fault]>([
      ['a refused connection', { kind: 'reset-before', times: Number.POSITIVE_INFINITY }],
      ['a connection that ends without a response', { kind: 'reset-after', times: Number.POSITIVE_INFINITY }],
      ['a truncated response', { kind: 'truncate' }],
    ])('is 502 after %s', async (_what, fault) => {
      const { user, things } = await open(fault)
      expect(statusAndText(await ask(user, things))).toEqual(unavailable)
    })

    test('is 502 after silence', async () => {
      const { user, things } = await open({ kind: 'hang' })
      expect(statusAndText(await ask(userAt(impatient.url, user.id, user.token), things))).toEqual(unavailable)
    })

    test.each<[string, Fault]>([
      ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
      ['a permanent redirect', { kind: 'redirect', location: '/assets', status: 308 }],
      ['an HTML page', { kind: 'not-json' }],
      ['an array', { kind: 'status', status: 200, body: '[]' }],
      ['a number', { kind: 'status', status: 201, body: '7' }],
      ['truncated JSON', { kind: 'not-json', body: '{"Result":{' }],
    ])('is 502 after %s', async (_what, fault) => {
      const { user, things } = await open(fault)
      expect(statusAndText(await ask(user, things))).toEqual(invalid)
      expect(fixture.calls()).toHaveLength(1)
    })

    test('is retried once if it is a read, never if it is a change', async () => {
      const { user, things } = await open({ kind: 'reset-before' })
      const reply = await ask(user, things)
      const reads = /^(?:List|Get)/.test(action)
      expect(reply.status).toBe(reads ? 200 : 502)
      expect(fixture.calls()).toHaveLength(reads ? 2 : 1)
    })
  })

  test('accepts an empty response only for a change', async () => {
    await using fixture = await openFixture({ kindOf })
    const group = await newGroup(fixture.ann, 'a')
    const asset = await newAsset(fixture.ann, group)
    for (const [action, ask] of requests) {
      fixture.emulator.faults.add({ kind: 'status', status: 200, body: '', action })
      const mayBeEmpty = /^(?:Update|Delete)/.test(action)
      // The 404 removes the record of the group, so this request is the last.
      if (action === 'DeleteAssetGroup') fixture.emulator.faults.clear()
      else
        expect(statusAndText(await ask(fixture.ann, { group, asset }))).toEqual(
          mayBeEmpty ? { status: 200, text: '' } : invalid,
        )
    }
  })

  test('does not forward an error that contains the account’s credential', async () => {
    await using fixture = await openFixture({ kindOf })
    const group = await newGroup(fixture.ann, 'a')
    const { rest, ark } = fixture.emulator
    const secret = kindOf === eachKind[0]?.kindOf ? rest.key : ark.secretKey
    fixture.emulator.faults.add({ kind: 'status', status: 401, body: `{"message":"bad key ${secret}"}` })
    expect(statusAndText(await fixture.ann.ask('GET', `/assets?GroupIds=${group}`))).toEqual(invalid)
  })
})

test('without an upstream every route is 502 after authentication', async () => {
  await using fixture = await openFixture({ kind: undefined })
  for (const [, ask] of requests) {
    expect(statusAndText(await ask(fixture.ann, { group: 'a', asset: 'b' }))).toEqual(unavailable)
  }
  expect(statusAndText(await fixture.ann.ask('GET', '/assets/groups'))).toEqual(unavailable)
  const response = await fetch(`${fixture.url}/api/media/proxy/assets`)
  expect(response.status).toBe(401)
})
