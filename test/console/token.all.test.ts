/** Runs with `--all`: a browser's token expires, is revoked and renewed. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { type Fixture, openFixture } from './fixture.ts'

/** Records the tokens that the page sends, in order. */
const recordTokens = (page: Page): string[] => {
  const used: string[] = []
  page.on('request', (request) => {
    const [, token] = /^Bearer (.+)$/.exec(request.headers().authorization ?? '') ?? []
    if (token && !used.includes(token)) used.push(token)
  })
  return used
}

const statusOf = async (fixture: Fixture, token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${fixture.url}/api/media/proxy/assets/groups`, { headers })).status
}

/** Waits until the token is rejected. A revocation takes effect within a second. */
const untilRejected = async (fixture: Fixture, token: string): Promise<void> => {
  while ((await statusOf(fixture, token)) !== 401) await Bun.sleep(20)
}

/** The tokens of the user that are not revoked. */
const activeTokens = async ({ store, user }: Fixture) =>
  (await store.listTokens(user)).filter(({ revokedAt }) => revokedAt === undefined)

/** Everything in the page that could contain a token. */
const pageState = `JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state, document.documentElement.outerHTML, window.name,
])`

setDefaultTimeout(300_000)

/** Everything that is in the browser's databases, as text. */
const keptInBrowser = `(async () => {
  const resultOf = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result) })
  const kept = []
  for (const { name } of await indexedDB.databases()) {
    const database = await resultOf(indexedDB.open(name))
    for (const store of database.objectStoreNames)
      kept.push(store, await resultOf(database.transaction(store).objectStore(store).getAll()))
  }
  return JSON.stringify(kept)
})()`

describeWithBrowser("the console's own token", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('is in memory only, and expires within an hour', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page, context } = visiting
    const used = recordTokens(page)
    await login(page)
    for (const screen of ['Tokens', 'Chat', 'Usage', 'Face check', 'Assets']) {
      await page.getByRole('link', { name: screen }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
    }
    await page.getByText('No groups yet').waitFor()
    expect(used.length).toBe(1)
    const [token = ''] = used
    expect(await page.evaluate<string>(pageState)).not.toContain(token.slice(0, 20))
    expect(await page.evaluate<string>(keptInBrowser)).not.toContain(token.slice(0, 20))
    expect(JSON.stringify(await context.storageState())).not.toContain(token.slice(0, 20))
    expect((await context.cookies()).map(({ name }) => name).sort()).toEqual(['session', 'session-device'])
    const [only, ...others] = await activeTokens(fixture)
    expect(others).toEqual([])
    expect((only?.expiresAt ?? 0) - Date.now()).toBeLessThanOrEqual(3_600_000)
  })

  test('is revoked at logout, with the tokens of other tabs', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page, context } = visiting
    const used = recordTokens(page)
    await login(page)
    await page.getByText('No groups yet').waitFor()
    const other = await context.newPage()
    used.push(...recordTokens(other))
    const others = recordTokens(other)
    await other.goto(`${fixture.url}/console`)
    await other.getByText('No groups yet').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await other.getByText('You logged out in another tab.').waitFor()
    expect([...used, ...others].length).toBe(2)
    for (const token of [...used, ...others]) await untilRejected(fixture, token)
    expect(await activeTokens(fixture)).toEqual([])
    // The device cookie stays.
    expect((await context.cookies()).filter(({ value }) => value !== '').map(({ name }) => name)).toEqual([
      'session-device',
    ])
  })

  test('is revoked when the page is closed, and created anew after a reload', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const used = recordTokens(page)
    await login(page)
    await page.getByText('No groups yet').waitFor()
    await page.reload()
    await page.getByText('No groups yet').waitFor()
    expect(used.length).toBe(2)
    await untilRejected(fixture, used[0] ?? '')
    expect(await statusOf(fixture, used[1] ?? '')).toBe(200)
    expect((await activeTokens(fixture)).length).toBe(1)
  })

  test('is replaced without a message when it is revoked', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const used = recordTokens(page)
    await login(page)
    await page.getByText('No groups yet').waitFor()
    const [token] = await activeTokens(fixture)
    await fixture.store.revokeToken(token?.id ?? '', Date.now())
    await untilRejected(fixture, used[0] ?? '')
    await page.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('option', { name: 'emulated-wide' }).waitFor({ state: 'attached' })
    expect(used.length).toBe(2)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('expires by the clock of the server, also when the clock of the browser is wrong', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await page.clock.install({ time: Date.now() - 7 * 86_400_000 })
    await page.reload()
    await login(page)
    await page.getByText('No groups yet').waitFor()
    const [token] = await activeTokens(fixture)
    expect(Math.abs((token?.expiresAt ?? 0) - Date.now() - 3_600_000)).toBeLessThan(60_000)
  })

  test('is listed apart from the tokens of the user', async () => {
    await using fixture = await openFixture()
    const mine = { user: fixture.user, hash: 'x', start: 'sk-abcdef', label: 'console', createdAt: Date.now() }
    await fixture.store.addToken(mine)
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('This page').waitFor()
    expect(await page.getByRole('button', { name: 'Revoke console' }).count()).toBe(1)
    await page.getByRole('button', { name: 'Revoke console' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No tokens yet').waitFor()
    expect((await activeTokens(fixture)).map(({ start }) => start)).not.toContain('sk-abcdef')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
  })
})
