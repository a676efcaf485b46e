/** Runs with `--all`: a browser follows invitations, with an identity provider and without. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { openOidcServer } from '../server/oidc.ts'
import { openChecker } from './axe.ts'
import { describeWithBrowser, openBrowser, visit } from './browser.ts'

setDefaultTimeout(300_000)

/** A server with an identity provider, and a user who is invited. */
const openFixture = async (environment: Record<string, string> = {}) => {
  const server = await openOidcServer({ environment: { OIDC_LABEL: 'Log in at Corp', ...environment } })
  const provider = await server.startProvider()
  const invite = async (name: string) => {
    const secret = randomBytes(32).toString('base64url')
    const hash = createHash('sha256').update(secret).digest('hex')
    const now = Date.now()
    await server.fixture.store.addAdminUser({
      ...{ name, createdAt: now },
      invitation: { hash, createdAt: now, expiresAt: now + 60_000 },
    })
    return `${server.server.url}/console#/invitation/${secret}`
  }
  return {
    invite,
    // The browser may also open the pages of the provider.
    served: { url: server.server.url, mediaOrigin: provider.issuer },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

describeWithBrowser('the holder of an invitation', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('sets a password by the rules, is logged in, and the link has ended', async () => {
    await using host = await openFixture()
    await using visiting = await visit(browser, host.served)
    const { page, errors } = visiting
    const link = await host.invite('ann')
    await page.goto(link)
    await page.getByRole('heading', { name: 'Welcome, ann' }).waitFor()
    const password = page.getByLabel('New password')
    await password.fill('ann')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.getByRole('alert').getByText('does not follow the rules').waitFor()
    errors.length = 0
    await password.fill('a long enough password')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    await page.getByTitle('ann', { exact: true }).waitFor()
    expect(page.url()).toBe(`${host.served.url}/console#/groups`)
    expect(errors).toEqual([])
    await page.goto(link)
    await page.getByText('This invitation is not valid any more').waitFor()
  })

  test('logs in at the identity provider instead, and is the invited user', async () => {
    await using host = await openFixture()
    await using visiting = await visit(browser, host.served)
    const { page, errors } = visiting
    await page.goto(await host.invite('bob'))
    await page.getByRole('heading', { name: 'Welcome, bob' }).waitFor()
    await page.getByRole('link', { name: 'Log in at Corp' }).click()
    await page.getByTitle('bob', { exact: true }).waitFor()
    expect(page.url()).toBe(`${host.served.url}/console`)
    expect(errors).toEqual([])
    await page.getByRole('button', { name: 'Log out' }).click()
    // The next login needs no invitation.
    await page.getByRole('link', { name: 'Log in at Corp' }).click()
    await page.getByTitle('bob', { exact: true }).waitFor()
  })

  test('has no form where users do not log in with a password, in Chinese too', async () => {
    await using host = await openFixture({ PASSWORD_LOGIN: 'off' })
    await using visiting = await visit(browser, host.served, { locale: 'zh-CN' })
    const { page, errors } = visiting
    await page.goto(`${host.served.url}/console`)
    await page.getByRole('link', { name: 'Log in at Corp' }).waitFor()
    expect(await page.locator('input').count()).toBe(0)
    await page.goto(await host.invite('cyd'))
    await page.getByRole('heading', { name: '欢迎，cyd' }).waitFor()
    expect(await page.locator('input').count()).toBe(0)
    await page.getByRole('link', { name: 'Log in at Corp' }).click()
    await page.getByTitle('cyd', { exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  test('finds no barrier on the screen of a valid and of an ended invitation, and on the page of a failed login', async () => {
    await using host = await openFixture({ OIDC_ALLOWED: '{"groups":["media"]}' })
    await using visiting = await visit(browser, host.served, { bypassCSP: true })
    const { page } = visiting
    const link = await host.invite('eve')
    for (const [screen, address] of [
      ['valid', link],
      ['ended', `${link}x`],
      ['failed login', `${host.served.url}/api/session/oidc`],
    ] as const) {
      await page.goto(address)
      await page.reload()
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('link', { name: 'Log in' }).waitFor()
      await (await openChecker(page))(screen)
    }
  })

  test('whose login fails reads why on a page, from which the login starts again', async () => {
    await using host = await openFixture({ OIDC_ALLOWED: '{"groups":["media"]}' })
    await using visiting = await visit(browser, host.served)
    const { page, errors } = visiting
    await page.goto(await host.invite('dan'))
    await page.getByRole('heading', { name: 'Welcome, dan' }).waitFor()
    await page.getByRole('link', { name: 'Log in at Corp' }).click()
    await page.getByRole('heading', { name: 'No access' }).waitFor()
    const href = (await page.getByRole('link', { name: 'Log in' }).getAttribute('href')) ?? ''
    expect(new URL(href).searchParams.get('invitation')).toMatch(/^[\w-]{43}$/)
    expect(errors.filter((error) => !error.includes('403'))).toEqual([])
  })
})
