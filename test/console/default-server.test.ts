import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { desktop, hasBrowser, login, openBrowser, phone, visit } from './browser.ts'
import { name, password } from './fixture.ts'

const dialogOf = (page: Page, button: string) => async (fill: Record<string, string>, confirm: string) => {
  await page.getByRole('button', { name: button }).first().click()
  const dialog = page.getByRole('dialog')
  for (const [label, text] of Object.entries(fill)) await dialog.getByLabel(label).fill(text)
  await dialog.getByRole('button', { name: confirm }).click()
}

/** Opens the vendor's page on a phone, presses a button, and returns the heading of the callback page that follows. */
const checkFace = async (browser: Browser, link: string, button: string): Promise<string> => {
  const context = await browser.newContext({ viewport: phone, hasTouch: true, locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('button', { name: button }).click()
  await page.waitForURL(/\/face-verifications\/callback\//)
  const heading = (await page.getByRole('heading').textContent()) ?? ''
  await context.close()
  return heading
}

describe.skipIf(!hasBrowser)('the default server, the emulated vendor’s page and a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  for (const [size, viewport] of Object.entries({ desktop, phone })) {
    test.concurrent(`a user goes through all screens on ${size}`, async () => {
      await using fixture = await openServerFixture('sqlite', { processingMs: 1_000, text: { msPerDelta: 10 } })
      const { emulator } = fixture
      const server = await fixture.start({
        MEDIA_UPSTREAM_KIND: 'ark',
        MEDIA_UPSTREAM_URL: emulator.ark.url,
        MEDIA_UPSTREAM_ACCESS_KEY: emulator.ark.accessKey,
        MEDIA_UPSTREAM_SECRET_KEY: emulator.ark.secretKey,
        TEXT_UPSTREAM_URL: emulator.text.url,
        TEXT_UPSTREAM_KEY: emulator.text.key,
        MEDIA_UPSTREAM_LIMITS: '{}',
      })
      await fixture.store.addUser({ name, password: await hashPassword(password), createdAt: Date.now() })
      await using visiting = await visit(browser, server, { viewport, hasTouch: viewport !== desktop })
      const { page, context } = visiting
      await login(page)

      await page.getByRole('link', { name: 'Tokens' }).click()
      await dialogOf(page, 'New token')({ Label: 'laptop' }, 'New token')
      const token = (await page.locator('.secret').textContent()) ?? ''
      const models = () => fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })
      expect((await models()).status).toBe(200)
      await page.getByRole('button', { name: 'Done' }).click()

      await page.getByRole('link', { name: 'Assets' }).click()
      await dialogOf(page, 'New group')({ Name: 'holidays' }, 'New group')
      await page.getByRole('heading', { level: 1, name: 'holidays' }).waitFor()
      await dialogOf(page, 'Add asset')(
        { 'Address of the file': 'https://files.example/beach.png', Name: 'beach' },
        'Add asset',
      )
      await page.locator('article').getByText('Active').waitFor()

      await page.getByRole('link', { name: 'Face check' }).click()
      await page.getByRole('button', { name: 'Start face check' }).click()
      const link = (await page.getByRole('link', { name: 'Open on this device' }).getAttribute('href')) ?? ''
      expect(link.startsWith(`${emulator.origin}/h5/`)).toBe(true)
      expect(await checkFace(browser, link, 'Succeed')).toMatch(/verified|received/i)
      await page.getByRole('link', { name: 'Add assets' }).click()
      await page.getByText('No assets yet').waitFor()
      await dialogOf(page, 'Add asset')(
        { 'Address of the file': 'https://files.example/me.png', Name: 'me' },
        'Add asset',
      )
      await page.locator('article').getByText('Active').waitFor()
      expect(emulator.library.groups().map(({ type }) => type)).toEqual(['AIGC', 'LivenessFace'])

      await page.getByRole('link', { name: 'Chat' }).click()
      await page.getByLabel('Question').fill('Say something about harbours.')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText(/tokens in, \d+ tokens out/).waitFor()
      await page.getByRole('link', { name: 'Usage' }).click()
      await page.getByRole('table').getByText('console').waitFor()

      const cookies = await context.cookies()
      expect(cookies.map((cookie) => [cookie.name, cookie.httpOnly, cookie.sameSite]).sort()).toEqual([
        ['session', true, 'Lax'],
        ['session-device', true, 'Lax'],
      ])
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      // The console's own token is revoked, the user's token is not.
      const user = await fixture.store.userByName(name)
      const tokens = await fixture.store.listTokens(user?.id)
      expect(tokens.map(({ label, revokedAt }) => [label === 'laptop', revokedAt !== undefined])).toEqual(
        tokens.map(({ label }) => [label === 'laptop', label !== 'laptop']),
      )
      expect((await models()).status).toBe(200)
      expect(visiting.trouble).toEqual([])
      expect([...visiting.hosts]).toEqual(['ark-media-asset.tos-cn-beijing.volces.com'])
    }, 60_000)
  }
})
