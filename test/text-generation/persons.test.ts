import { describe, expect, test } from 'bun:test'
import { notAuthorized } from '../../plugins/shared/consent/not-authorized.ts'
import type { AssetOwners } from '../../plugins/shared/media/asset-ownership.ts'
import { streaming } from './fixture.ts'
import { respond, storedOpener } from './stored-fixture.ts'
import { create, newId, opener, stored, testStore } from './stored-responses.ts'

const store = testStore()

/** Assets whose ids begin with `face` show a person, who may withdraw the consent. */
const people = () => {
  const withdrawn = new Set<string>()
  const asked: string[] = []
  const assets: Pick<AssetOwners, 'asset' | 'areConsented'> = {
    async asset(_, id) {
      if (withdrawn.has(`group of ${id}`)) throw notAuthorized('asset', String(id))
      return { group: { id: `group of ${id}` }, showsPerson: String(id).startsWith('face') }
    },
    async areConsented(groups) {
      asked.push(...groups)
      return !groups.some((group) => withdrawn.has(group))
    },
  }
  return { assets, asked, withdraw: (asset: string) => void withdrawn.add(`group of ${asset}`) }
}

const showing = (...assets: readonly string[]) => ({
  input: [
    {
      role: 'user',
      content: assets.map((id) => ({ type: 'input_image', image_url: `asset://${id}`, detail: 'auto' })),
    },
  ],
})

/** An app whose upstream gives each response a new id. */
const open = (assets: Pick<AssetOwners, 'asset' | 'areConsented'>, more: object = {}, objects = store) => {
  const app = opener(objects)(({ json }) => Response.json(stored(newId(), { conversation: json?.conversation })), {
    assets,
    ...more,
  })
  const created = async (request: object): Promise<string> => {
    const response = await create(app, 'ann', request)
    const body = (await response.json()) as { id: string }
    if (response.status !== 200) throw new Error(JSON.stringify(body))
    return body.id
  }
  return { app, created }
}

const refusedFor = (param: string) => ({
  error: {
    message: 'the person of this asset no longer authorizes its use',
    ...{ type: 'permission_error', param, code: 'asset_not_found' },
  },
})

describe('when a person has withdrawn the consent', () => {
  test('no response is continued that shows the person, however long ago', async () => {
    const { assets, withdraw } = people()
    const { app, created } = open(assets)
    const first = await created(showing('face-1'))
    const second = await created({ previous_response_id: first })
    const third = await created({ previous_response_id: second, ...showing('cat') })
    const other = await created(showing('face-2', 'cat'))
    withdraw('face-1')
    const before = app.asked.length
    for (const previous_response_id of [first, second, third]) {
      const refused = await create(app, 'ann', { previous_response_id })
      expect([refused.status, await refused.json()]).toEqual([403, refusedFor('previous_response_id')])
    }
    expect(app.asked).toHaveLength(before)
    expect(await created({ previous_response_id: other })).toStartWith('resp_')
    // What was made before can be read and deleted.
    expect((await app.as('ann', 'GET', `/responses/${third}`)).status).toBe(200)
  })

  test('no item is referred to that was made of the person, also one that a later read has shown', async () => {
    const { assets, withdraw } = people()
    const [response, early, late] = [newId(), `ws_${newId()}`, `ws_${newId()}`]
    const app = opener(store)(
      ({ method }) => {
        const output = [early, ...(method === 'GET' ? [late] : [])].map((id) => ({ id, type: 'web_search_call' }))
        return Response.json(stored(response, { output }))
      },
      { assets },
    )
    await create(app, 'ann', showing('face-3'))
    await app.as('ann', 'GET', `/responses/${response}`)
    const refer = (id: string) => create(app, 'ann', { input: [{ type: 'item_reference', id }], store: false })
    expect([(await refer(early)).status, (await refer(late)).status]).toEqual([200, 200])
    withdraw('face-3')
    for (const id of [early, late]) {
      const refused = await refer(id)
      expect([refused.status, await refused.json()]).toEqual([403, refusedFor('input[0].id')])
    }
  })

  test('no conversation goes on that shows the person, also if the response was lost', async () => {
    const { assets, withdraw } = people()
    const conversation = `conv_${newId()}`
    const { app, created } = open(assets)
    const user = { user: 'ann', upstream: 'http://upstream.invalid/v1', model: 'm', createdAt: 1, expiresAt: 2 ** 45 }
    await store.recordTextObjects([{ kind: 'conversation', id: conversation, ...user }])
    await created({ conversation })
    const broken = opener(store)(
      () => {
        throw new Error('ECONNRESET')
      },
      { assets },
    )
    expect((await create(broken, 'ann', { conversation, ...showing('face-4') })).status).toBe(502)
    expect((await create(app, 'ann', { conversation })).status).toBe(200)
    withdraw('face-4')
    const refused = await create(app, 'ann', { conversation: { id: conversation } })
    expect([refused.status, await refused.json()]).toEqual([403, refusedFor('conversation.id')])
  })

  test('a conversation keeps the persons of requests at once', async () => {
    const { assets, withdraw } = people()
    const conversation = `conv_${newId()}`
    const { app, created } = open(assets)
    const user = { user: 'ann', upstream: 'http://upstream.invalid/v1', model: 'm', createdAt: 1, expiresAt: 2 ** 45 }
    await store.recordTextObjects([{ kind: 'conversation', id: conversation, ...user }])
    await Promise.all(
      ['face-5', 'face-6', 'cat', 'face-7'].map((asset) => created({ conversation, ...showing(asset) })),
    )
    withdraw('face-6')
    expect((await create(app, 'ann', { conversation })).status).toBe(403)
  })

  test('no response is continued that the gateway stores', async () => {
    const { assets, withdraw } = people()
    const app = storedOpener(store)(undefined, { assets })
    const { id } = await respond(app, 'ann', showing('face-10'))
    const next = await respond(app, 'ann', { previous_response_id: id })
    withdraw('face-10')
    const refused = await create(app, 'ann', { previous_response_id: next.id })
    expect([refused.status, await refused.json()]).toEqual([403, refusedFor('input[0].content[0].image_url')])
  })

  test('a stream is continued no more either', async () => {
    const { assets, withdraw } = people()
    const app = opener(store)(
      (_, id) =>
        streaming([
          { type: 'response.created', sequence_number: 0, response: stored(id) },
          { type: 'response.completed', sequence_number: 1, response: stored(id) },
        ]),
      { assets },
    )
    await (await create(app, 'ann', { stream: true, ...showing('face-8') })).text()
    withdraw('face-8')
    expect((await create(app, 'ann', { stream: true, previous_response_id: app.id })).status).toBe(403)
  })
})

test('whoever shows no person is asked about none, with one query for what a request continues', async () => {
  const { assets, asked } = people()
  const calls: string[] = []
  const counted = {
    ...store,
    findTextObject: (...query: Parameters<typeof store.findTextObject>) => {
      calls.push('find')
      return store.findTextObject(...query)
    },
    recordTextObjects: (...objects: Parameters<typeof store.recordTextObjects>) => {
      calls.push('record')
      return store.recordTextObjects(...objects)
    },
  }
  const { created } = open(assets, {}, counted)
  const first = await created(showing('cat'))
  expect(calls.splice(0)).toEqual(['record'])
  await created({ previous_response_id: first })
  expect(calls.splice(0)).toEqual(['find', 'record'])
  expect(asked).toEqual([])
})

test('a request shows at most 100 persons, with those of what it continues', async () => {
  const { assets } = people()
  const { app, created } = open(assets)
  const faces = Array.from({ length: 101 }, (_, at) => `face-${100 + at}`)
  const previous_response_id = await created(showing(...faces.slice(0, 100)))
  expect((await create(app, 'ann', { previous_response_id, ...showing('face-100') })).status).toBe(200)
  const refused = await create(app, 'ann', { previous_response_id, ...showing('face-200') })
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { message: 'request shows more than 100 persons, with what it continues', param: 'input' } },
  ])
})

test('without a ledger nothing is asked, and responses go on', async () => {
  const { asset } = people().assets
  const { created } = open({ asset })
  const first = await created(showing('face-9'))
  expect(await created({ previous_response_id: first })).toStartWith('resp_')
})
