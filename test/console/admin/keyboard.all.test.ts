/** Runs with `--all`: an admin works by keyboard alone, on a server of its own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { describeWithBrowser, openBrowser } from '../browser.ts'
import { focused, tabTo } from '../keyboard.ts'
import { type AdminFixture, openAdminFixture, visitAdmin } from './fixture.ts'

setDefaultTimeout(300_000)

describeWithBrowser('by keyboard alone', () => {
  let browser: Browser
  let fixture: AdminFixture
  beforeAll(async () => {
    browser = await openBrowser()
    fixture = await openAdminFixture()
  })
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]()
    await browser?.close()
  })

  test('an admin creates a user, gives limits and a token, revokes it, and disables the user', async () => {
    const { store } = fixture
    await using visiting = await visitAdmin(browser, fixture, 'overview')
    const { page } = visiting
    const { keyboard } = page
    await page.getByText('No rule would fire').waitFor()
    await tabTo(page, 'a Users', 40)
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    expect(await focused(page)).toBe('h1 Users')
    await tabTo(page, 'button New user', 3)
    await keyboard.press('Enter')
    expect(await focused(page)).toBe('input Name')
    await keyboard.press('Enter')
    await page.getByText('A name has 1 to 128 characters').waitFor()
    expect(await focused(page)).toBe('input Name')
    await keyboard.type('keys')
    await tabTo(page, 'select First login', 2)
    await keyboard.press('End')
    await keyboard.press('Enter')
    await tabTo(page, 'button New user', 8)
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'keys' }).waitFor()
    await page.getByText('No tokens').waitFor()
    expect(await focused(page)).toBe('h1 keys')

    await tabTo(page, 'button Change the limits', 12)
    await keyboard.press('Enter')
    // A group of radio buttons is one stop: arrows move in it.
    expect(await focused(page)).toBe('input Those of every user without limits of their own')
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('input These limits')
    await page.getByLabel('What is limited').waitFor()
    await tabTo(page, 'input At most', 6)
    await keyboard.type('250')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('250 tokens a day').waitFor()
    const user = await store.adminUserByName('keys')
    expect(JSON.parse(user?.limits ?? '')).toEqual([{ unit: 'tokens', amount: 250, window: 'day' }])
    expect(await focused(page)).toBe('button Change the limits')

    await tabTo(page, 'button New token', 3)
    await keyboard.press('Enter')
    await keyboard.type('from keys')
    await tabTo(page, 'input media Asset library, uploads, events', 1)
    await keyboard.press('Space')
    await tabTo(page, 'button New token', 16)
    await keyboard.press('Enter')
    await page.locator('.secret').waitFor()
    expect(await focused(page)).toBe('button CopyCopiedFailed')
    await keyboard.press('Escape')
    const [token] = (await store.listUserTokens(user?.id ?? '', { limit: 5 })).items
    expect(token).toMatchObject({ label: 'from keys', scopes: ['text', 'video'] })
    await page.getByRole('button', { name: 'Revoke the token from keys' }).waitFor()
    await tabTo(page, 'button Revoke the token from keys', 8)
    await keyboard.press('Enter')
    expect(await focused(page)).toBe('input Confirmation')
    await keyboard.type('from keys')
    await keyboard.press('Enter')
    await page.getByText('Revoked', { exact: true }).waitFor()
    expect((await store.adminToken(token?.id ?? ''))?.revokedAt).toBeNumber()

    await page.getByRole('heading', { level: 1 }).focus()
    await tabTo(page, 'button Disable', 8)
    await keyboard.press('Enter')
    await keyboard.type('keys')
    await keyboard.press('Enter')
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor()
    expect((await store.adminUserByName('keys'))?.disabledAt).toBeNumber()
    expect(visiting.errors.filter((error) => !error.includes('400'))).toEqual([])
  })
})
