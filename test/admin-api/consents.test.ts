import { expect, test } from 'bun:test'
import { createDocumentSigner, verifyDocument } from '../../plugins/shared/consent/signature.ts'
import { openStore } from '../../src/store/index.ts'
import { addUser, openAdmin } from './fixture.ts'

const openConsent = async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const owner = (await store.addUser({ name: 'ann', createdAt: 1 })) ?? ''
  const group = 'group-1'
  await store.adoptGroup({ id: group, user: owner, type: 'LivenessFace', name: 'a face', createdAt: 1 })
  const api = await openAdmin(store)
  const { id: root, token } = await addUser(store, 'admin', ['admin'])
  return { ...api, root, admin: api.with(token), store, owner, group, [Symbol.asyncDispose]: () => store.close() }
}

test('an admin reads, withdraws and has deleted for a person, once, and the audit trail says so', async () => {
  await using it = await openConsent()
  const before = await it.admin('GET', `/consents/${it.group}`)
  expect(before.body.consent).toMatchObject({ owner: it.owner, status: 'active', withdrawal: null, deletion: null })
  const withdrawn = await it.admin('POST', `/consents/${it.group}/withdraw`)
  expect(withdrawn.body.consent).toMatchObject({ status: 'withdrawn', withdrawal: { by: 'admin', user: it.root } })
  expect((await it.admin('POST', `/consents/${it.group}/withdraw`)).text).toBe(withdrawn.text)
  const deleting = await it.admin('POST', `/consents/${it.group}/delete`)
  expect(deleting.body.consent).toMatchObject({ status: 'deleting', deletion: { by: 'admin', user: it.root } })
  expect((await it.admin('POST', `/consents/${it.group}/delete`)).text).toBe(deleting.text)
  expect(
    it.events.map(({ action, target }) => [action, target?.id]).filter(([action]) => action !== 'admin.read'),
  ).toEqual([
    ['consent.withdraw', it.group],
    ['consent.delete', it.group],
  ])
  expect(await it.store.hasWithdrawn(it.group)).toBe(true)
})

test('a group without a person, and one that does not exist, have no consent', async () => {
  await using it = await openConsent()
  await it.store.adoptGroup({ id: 'cats', user: it.owner, type: 'AIGC', name: 'cats', createdAt: 1 })
  for (const id of ['cats', 'unknown', '%00'])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/withdraw'],
      ['POST', '/delete'],
      ['GET', '/export'],
    ] as const)
      expect([id, path, (await it.admin(method, `/consents/${id}${path}`)).status]).toEqual([id, path, 404])
})

test('an admin exports a consent, signed with the key of the service, and the audit trail says so', async () => {
  await using it = await openConsent()
  await it.store.recordConsentUse({ task: 't', user: it.owner, assets: [{ id: 'a', group: it.group }], at: 5 })
  const { text, headers } = await it.admin('GET', `/consents/${it.group}/export`)
  expect(headers.get('content-disposition')).toBe('attachment; filename="consent.json"')
  expect(verifyDocument(text, createDocumentSigner(['a secret of the test suite']).keys)).toBe(true)
  expect(JSON.parse(text)).toMatchObject({ Consent: { GroupId: it.group }, Uses: [{ TaskId: 't', AssetIds: ['a'] }] })
  const exported = it.events.filter(({ action }) => action === 'consent.export')
  expect(exported.map(({ target }) => target?.id)).toEqual([it.group])
})

test('a consent names its owner', async () => {
  await using it = await openConsent()
  const named = { owner: it.owner, owner_name: 'ann' }
  expect((await it.admin('GET', `/consents/${it.group}`)).body.consent).toMatchObject(named)
  expect((await it.admin('GET', '/consents')).body.consents).toMatchObject([named])
  await it.store.adoptGroup({ id: 'of a host', user: 'host user', type: 'LivenessFace', name: 'x', createdAt: 1 })
  expect((await it.admin('GET', '/consents/of%20a%20host')).status).toBe(404)
  await it.store.adoptGroup({ id: 'hosted', user: 'host user', type: 'LivenessFace', name: 'y', createdAt: 1 })
  expect((await it.admin('GET', '/consents/hosted')).body.consent).toMatchObject({ owner_name: null })
})
