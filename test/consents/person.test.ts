import { expect, test } from 'bun:test'
import { openStore } from '../../src/store/index.ts'
import { base, openFixture, type Reply } from '../face-verification/fixture.ts'

const secrets = ['a secret of the test suite']

/** A person whom ann has invited, and who has come back from the check. */
const openPerson = async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const it = await openFixture({ store, consents: { store, secrets } })
  const verification: string = (await it.ann.create()).json.verification_id
  const { group, callback } = it.vendor.finish()
  const page = await it.ask(callback)
  const [, link = ''] = /href="([^"]+)"/.exec(page.text) ?? []
  return {
    ...{ ...it, store, verification, group, callback, page, link },
    post: (action: string) => it.ask(`${link}/${action}`, { method: 'POST' }),
    [Symbol.asyncDispose]: () => store.close(),
  }
}

const titleOf = ({ text }: Reply) => /<h1>([^<]*)<\/h1>/.exec(text)?.[1]

test('the person gets a link when they come back from the check, and withdraws the consent with it', async () => {
  await using it = await openPerson()
  expect(it.link).toMatch(/^https:\/\/gate\.test\/api\/media\/face-verifications\/consent\/[\w-]{43}$/)
  const before = await it.ask(it.link)
  expect([before.status, titleOf(before)]).toEqual([200, 'Your consent'])
  expect(before.text).toContain(`<form method="post" action="${it.link}/withdraw">`)
  expect(before.headers.get('content-security-policy')).toContain("form-action 'self'")
  expect(await it.store.hasWithdrawn(it.group)).toBe(false)
  const done = await it.post('withdraw')
  expect([done.status, done.headers.get('location')]).toEqual([303, it.link])
  expect(titleOf(await it.ask(it.link))).toBe('Consent withdrawn')
  expect((await it.post('withdraw')).status).toBe(303)
  expect(await it.store.consentOf(it.group)).toMatchObject({
    owner: 'ann',
    invitation: { verification: it.verification, user: 'ann' },
    withdrawal: { actor: { by: 'person' } },
  })
  expect(it.lines.join()).not.toContain(it.link.split('/').at(-1) ?? '')
})

test('the person asks for the deletion of everything with one step', async () => {
  await using it = await openPerson()
  expect((await it.post('delete')).status).toBe(303)
  expect(titleOf(await it.ask(it.link))).toBe('Being deleted')
  expect(await it.store.dueConsentDeletions(it.clock.now(), 10)).toMatchObject([
    { group: it.group, withdrawal: { actor: { by: 'person' } }, deletion: { actor: { by: 'person' } } },
  ])
})

test('the link is the same when the callback page is loaded again, and in Chinese', async () => {
  await using it = await openPerson()
  expect((await it.ask(it.callback)).text).toContain(`href="${it.link}"`)
  const chinese = await it.ask(it.link, { headers: { 'accept-language': 'zh' } })
  expect(titleOf(chinese)).toBe('您的授权')
})

test('a wrong link shows nothing and changes nothing', async () => {
  await using it = await openPerson()
  const secret = it.link.split('/').at(-1) ?? ''
  const state = new URL(it.callback).pathname.split('/').at(-1) ?? ''
  for (const wrong of [
    'A'.repeat(43),
    secret.slice(1),
    `${secret}A`,
    secret.toLowerCase(),
    state,
    it.verification,
    '%00',
  ])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/withdraw'],
      ['POST', '/delete'],
      ['GET', '/export'],
    ] as const)
      expect([wrong, path, (await it.ask(`${base}/consent/${wrong}${path}`, { method })).status]).toEqual([
        wrong,
        path,
        404,
      ])
  expect(await it.store.hasWithdrawn(it.group)).toBe(false)
})

test('until the person was verified there is no consent', async () => {
  await using it = await openPerson()
  await it.bob.create()
  // The result does not come with the callback.
  const page = await it.ask(it.vendor.callback())
  const [, link = ''] = /href="([^"]+)"/.exec(page.text) ?? []
  expect(link).toContain('/consent/')
  expect((await it.ask(link)).status).toBe(404)
})

test('a person who was not verified gets no link', async () => {
  await using it = await openPerson()
  await it.bob.create()
  const page = await it.ask(it.vendor.callback(undefined, '1'))
  expect([titleOf(page), page.text.includes('/consent/')]).toEqual(['Not verified', false])
})

test('a failing store shows a page to try again, without details', async () => {
  await using it = await openPerson()
  await it.store.close()
  const page = await it.post('withdraw')
  expect([page.status, titleOf(page)]).toEqual([500, 'Please reload this page'])
})
