import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, login, openBrowser, visit } from './browser.ts'
import { type House, openHouse } from './stub.ts'

/** Tokens that the page has called with, in order. */
const follow = (page: Page): string[] => {
  const used: string[] = []
  page.on('request', (request) => {
    const [, token] = /^Bearer (.+)$/.exec(request.headers().authorization ?? '') ?? []
    if (token && !used.includes(token)) used.push(token)
  })
  return used
}

const statusOf = async (house: House, token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${house.url}/api/media/proxy/assets/groups`, { headers })).status
}

/** Until a token is refused: a revocation takes effect within a second. */
const refused = async (house: House, token: string): Promise<void> => {
  while ((await statusOf(house, token)) !== 401) await Bun.sleep(20)
}

const working = async ({ store, user }: House) =>
  (await store.listTokens(user)).filter(({ revokedAt }) => revokedAt === undefined)

const everywhere = `JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state, document.documentElement.outerHTML, window.name,
])`

setDefaultTimeout(30_000)

describe.skipIf(!hasBrowser)("the console's own token", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('is in memory only, and lives an hour at most', async () => {
    await using house = await openHouse()
    await using visiting = await visit(browser, house)
    const { page, context } = visiting
    const used = follow(page)
    await login(page)
    for (const screen of ['Tokens', 'Chat', 'Usage', 'Face check', 'Assets']) {
      await page.getByRole('link', { name: screen }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
    }
    await page.getByText('No groups yet').waitFor()
    expect(used.length).toBe(1)
    const [token = ''] = used
    expect(await page.evaluate<string>(everywhere)).not.toContain(token.slice(0, 20))
    expect(await page.evaluate<unknown[]>('indexedDB.databases()')).toEqual([])
    expect(JSON.stringify(await context.storageState())).not.toContain(token.slice(0, 20))
    expect((await context.cookies()).map(({ name }) => name).sort()).toEqual(['session', 'session-device'])
    const [kept, ...others] = await working(house)
    expect(others).toEqual([])
    expect((kept?.expiresAt ?? 0) - Date.now()).toBeLessThanOrEqual(3_600_000)
  })

  test('stops working at logout, with those of other tabs', async () => {
    await using house = await openHouse()
    await using visiting = await visit(browser, house)
    const { page, context } = visiting
    const used = follow(page)
    await login(page)
    await page.getByText('No groups yet').waitFor()
    const other = await context.newPage()
    used.push(...follow(other))
    const others = follow(other)
    await other.goto(`${house.url}/console`)
    await other.getByText('No groups yet').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await other.getByText('You logged out in another tab.').waitFor()
    expect([...used, ...others].length).toBe(2)
    for (const token of [...used, ...others]) await refused(house, token)
    expect(await working(house)).toEqual([])
    // The browser stays known as one that somebody has logged in from.
    expect((await context.cookies()).filter(({ value }) => value !== '').map(({ name }) => name)).toEqual([
      'session-device',
    ])
  })

  test('is revoked when the page goes, and made anew when it comes back', async () => {
    await using house = await openHouse()
    await using visiting = await visit(browser, house)
    const { page } = visiting
    const used = follow(page)
    await login(page)
    await page.getByText('No groups yet').waitFor()
    await page.reload()
    await page.getByText('No groups yet').waitFor()
    expect(used.length).toBe(2)
    await refused(house, used[0] ?? '')
    expect(await statusOf(house, used[1] ?? '')).toBe(200)
    expect((await working(house)).length).toBe(1)
  })

  test('is replaced when it stops working, without a word', async () => {
    await using house = await openHouse()
    await using visiting = await visit(browser, house)
    const { page } = visiting
    const used = follow(page)
    await login(page)
    await page.getByText('No groups yet').waitFor()
    const [kept] = await working(house)
    await house.store.revokeToken(kept?.id ?? '', Date.now())
    await refused(house, used[0] ?? '')
    await page.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('option', { name: 'emulated-wide' }).waitFor({ state: 'attached' })
    expect(used.length).toBe(2)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('is made with the times of the server, whose clock may be far from this one', async () => {
    await using house = await openHouse()
    await using visiting = await visit(browser, house)
    const { page } = visiting
    await page.clock.install({ time: Date.now() - 7 * 86_400_000 })
    await page.reload()
    await login(page)
    await page.getByText('No groups yet').waitFor()
    const [kept] = await working(house)
    expect(Math.abs((kept?.expiresAt ?? 0) - Date.now() - 3_600_000)).toBeLessThan(60_000)
  })

  test('is told from those that people made', async () => {
    await using house = await openHouse()
    const mine = { user: house.user, hash: 'x', start: 'sk-abcdef', label: 'console', createdAt: Date.now() }
    await house.store.addToken(mine)
    await using visiting = await visit(browser, house)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('This page').waitFor()
    expect(await page.getByRole('button', { name: 'Revoke console' }).count()).toBe(1)
    await page.getByRole('button', { name: 'Revoke console' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No tokens yet').waitFor()
    expect((await working(house)).map(({ start }) => start)).not.toContain('sk-abcdef')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
  })
})
