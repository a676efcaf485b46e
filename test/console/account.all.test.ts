/** Runs with `--all`: a browser goes through the own account, tokens, and the settings of programs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { openAdminFixture } from './admin/fixture.ts'
import { openChecker } from './axe.ts'
import { describeWithBrowser, login, openBrowser, phone, type Visit, visit } from './browser.ts'
import { name, password } from './fixture.ts'
import { type Looks, zoomed } from './screen-faults.ts'

setDefaultTimeout(300_000)

const looks: Looks = [
  { title: 'on a phone, in light colours', viewport: phone, colorScheme: 'light' },
  { title: 'on a phone, in dark colours', viewport: phone, colorScheme: 'dark' },
  { title: 'at a zoom of 200 %, in dark colours', viewport: zoomed, colorScheme: 'dark' },
  { title: 'at a zoom of 200 %, in light colours', viewport: zoomed, colorScheme: 'light' },
]

const logInAs = async (page: Page, secret: string) => {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(secret)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** The page of an ended session says so at the next request. */
const expectEnded = async ({ page, context }: Visit) => {
  // What a server knows of a session, it may use for a second.
  while ((await context.request.get(new URL('/api/account', page.url()).href)).ok());
  // Not with a link: a request of the page's own may already have shown that the session has ended.
  await page.evaluate("location.hash = '#/usage'")
  await page.getByText('Your session has ended.').waitFor()
}

describeWithBrowser('the own account', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('changes its password, which ends the sessions elsewhere', async () => {
    await using fixture = await openAdminFixture()
    await using visiting = await visit(browser, fixture)
    await using other = await visit(browser, fixture)
    await login(other.page)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
    await page.getByText('Name and password').waitFor()
    const change = async (current: string, next: string, again = next) => {
      await page.getByLabel('Current password').fill(current)
      await page.getByLabel('New password', { exact: true }).fill(next)
      await page.getByLabel('New password again').fill(again)
      await page.getByRole('button', { name: 'Change the password' }).click()
    }
    await change(password, 'another long password', 'another one')
    await page.getByRole('alert').getByText('The two new passwords differ.').waitFor()
    await change('wrong', 'another long password')
    await page.getByRole('alert').getByText('The current password is wrong.').waitFor()
    await change(password, 'short')
    await page.getByRole('alert').getByText('does not follow the rules').waitFor()
    await change(password, 'another long password')
    await page.getByText('Password changed').waitFor()
    await expectEnded(other)
    await logInAs(other.page, 'another long password')
    await other.page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
  })

  test('shows what is left of each limit, lists its sessions, and ends another one', async () => {
    const limits = [
      { unit: 'tokens', amount: 1_000, window: 'day' },
      { unit: 'storage_bytes', amount: 1_500_000_001 },
    ]
    await using fixture = await openAdminFixture({ USER_LIMITS: JSON.stringify(limits) })
    await using visiting = await visit(browser, fixture)
    await using other = await visit(browser, fixture, { userAgent: 'Mozilla/5.0 (Windows NT 10.0) Firefox/150.0' })
    await login(other.page)
    const { page } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/account`)
    const limit = page.getByRole('list', { name: 'Limits' }).getByRole('listitem')
    await limit.getByText('Returns').waitFor()
    expect(await limit.allInnerTexts()).toEqual([
      expect.stringMatching(/^Tokens a day\s+1,000 of 1,000 left\s*Returns \d+ \w+ \d{4}, 00:00$/),
      expect.stringMatching(
        /^Storage\s+1,500.000001 MB of 1,500.000001 MB left\s*1,500,000,001 bytes of 1,500,000,001 bytes left$/,
      ),
    ])
    await page.getByRole('button', { name: 'Log out Firefox on Windows' }).click()
    await page.getByText('Logged out there').waitFor()
    expect(await page.getByText('This browser').count()).toBe(1)
    await expectEnded(other)
  })

  test('chooses the language and the colours, also after a reload and for the login', async () => {
    await using fixture = await openAdminFixture()
    await using visiting = await visit(browser, fixture, { colorScheme: 'light' })
    const { page } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/account`)
    const background = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
    expect(await background()).toBe('rgb(245, 246, 248)')
    await page.getByLabel('Colours').selectOption('dark')
    expect(await background()).toBe('rgb(16, 18, 22)')
    await page.getByLabel('Language').selectOption('zh')
    await page.getByRole('heading', { level: 1, name: '账户' }).waitFor()
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe('zh')
    await page.getByRole('button', { name: '退出登录' }).click()
    await page.getByRole('heading', { level: 1, name: '登录' }).waitFor()
    expect(await background()).toBe('rgb(16, 18, 22)')
    // A request that the logout has overtaken is answered with 401.
    expect(visiting.errors.filter((error) => !error.includes('status of 401'))).toEqual([])
  })

  test('gives a token scopes and models, shows when it was used, and rotates it', async () => {
    await using fixture = await openAdminFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Label').fill('laptop')
    for (const scope of ['Assets and uploads', 'Text', 'Videos']) await dialog.getByLabel(scope).uncheck()
    await dialog.getByRole('button', { name: 'New token' }).click()
    await dialog.getByText('Choose at least one use.').waitFor()
    await dialog.getByLabel('Text', { exact: true }).check()
    await dialog.getByLabel('Models (Optional)').fill('emulated-*, other')
    await dialog.getByRole('button', { name: 'New token' }).click()
    const secret = (await page.locator('.secret').textContent()) ?? ''
    await page.getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('listitem').filter({ hasText: 'laptop' })
    expect((await row.allInnerTexts())[0]).toMatch(/Never used\s+May use: Text\s+Models: emulated-\*, other/)
    const ask = (path: string, token: string) =>
      fetch(fixture.url + path, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status)
    expect(await ask('/v1/models', secret)).toBe(200)
    expect(await ask('/api/media/proxy/assets', secret)).toBe(403)

    const idsOf = async () => (await fixture.store.listTokens(fixture.admin.id)).map(({ id }) => id).sort()
    const ids = await idsOf()
    const rotate = async (overlap: string) => {
      await row.getByRole('button', { name: 'Rotate laptop' }).click()
      await dialog.getByLabel('The old secret works').selectOption(overlap)
      await dialog.getByRole('button', { name: 'Rotate' }).click()
      const next = (await page.locator('.secret').textContent()) ?? ''
      await page.getByRole('button', { name: 'Done' }).click()
      return next
    }
    const second = await rotate('For 1 more hour')
    await row.getByText('The old secret works until').waitFor()
    expect([await ask('/v1/models', secret), await ask('/v1/models', second)]).toEqual([200, 200])
    expect(await ask('/api/media/proxy/assets', second)).toBe(403)
    const next = await rotate('No longer: it ends at once')
    expect(await idsOf()).toEqual(ids)
    await row.getByText('The old secret works until').waitFor({ state: 'detached' })
    expect([await ask('/v1/models', secret), await ask('/v1/models', second)]).toEqual([401, 401])
    expect(await ask('/v1/models', next)).toBe(200)
    expect(visiting.errors).toEqual([])
  })

  test('reads how programs connect: addresses, and settings for the chosen model', async () => {
    await using fixture = await openAdminFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/tokens/connect`)
    await page.getByText(`${fixture.url}/v1`, { exact: true }).waitFor()
    await page.getByLabel('Model').selectOption('emulated-reasoner')
    await page.getByText('codex', { exact: true }).click()
    expect(await page.locator('details[open] code').first().textContent()).toContain(
      `model = "emulated-reasoner"\nmodel_provider = "sluice"\n\n[model_providers.sluice]\nname = "sluice"\nbase_url = "${fixture.url}/v1"`,
    )
    await page.getByText('Tools for agents (MCP)', { exact: true }).last().click()
    await page.getByText(`codex mcp add sluice --url ${fixture.url}/mcp --bearer-token-env-var SLUICE_TOKEN`).waitFor()
    const documentation = await page.getByRole('link', { name: 'Documentation of the API' }).getAttribute('href')
    expect((await fetch(new URL(documentation ?? '', fixture.url))).status).toBe(200)
    expect(visiting.errors).toEqual([])
  })

  for (const locale of ['en-GB', 'zh-CN'] as const) {
    test(`has no barrier that axe finds, in both colours and ${locale}, on a phone and with a zoom of 200 %`, async () => {
      await using fixture = await openAdminFixture({
        USER_LIMITS: '[{"unit":"tokens","amount":1000,"window":"day"}]',
      })
      await fixture.store.flushUsage()
      await using visiting = await visit(browser, fixture, { viewport: phone, locale, bypassCSP: true })
      const { page } = visiting
      await page.locator('input').first().fill(name)
      await page.locator('input').nth(1).fill(password)
      await page.keyboard.press('Enter')
      await page.locator('#main.groups h1').waitFor()
      const check = await openChecker(page, looks)
      for (const screen of ['account', 'tokens', 'tokens/connect', 'usage']) {
        await page.goto(`${fixture.url}/console#/${screen}`)
        await page
          .locator(`#main.${screen.split('/')[0]} :is(.rows, .empty, .limit-uses)`)
          .first()
          .waitFor()
        await check(screen)
      }
    })
  }
})
