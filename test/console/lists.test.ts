import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, login, openBrowser, visit } from './browser.ts'
import { type House, openHouse } from './stub.ts'

const withGroup = async (house: House, name: string): Promise<string> => {
  const { id } = house.emulator.library.addGroup({ name })
  await house.store.adoptGroup({ id, user: house.user, type: 'AIGC', name, createdAt: Date.now() })
  return id
}

/** How often the page has asked for one asset. */
const countLooks = (page: Page): (() => number) => {
  let looks = 0
  page.on('request', (request) => {
    if (/\/proxy\/assets\/asset-[^/]+$/.test(request.url())) looks++
  })
  return () => looks
}

/** Whatever the page has asked for before, it has asked for now. */
const asked = `fetch('/healthz').then(() => true)`

setDefaultTimeout(30_000)

describe.skipIf(!hasBrowser)('lists', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('show a page at a time, and every item once', async () => {
    await using house = await openHouse()
    for (let at = 0; at < 30; at++) await withGroup(house, `group ${at}`)
    await using visiting = await visit(browser, house)
    const { page } = visiting
    await login(page)
    await page.getByText('24 of 30').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('30 of 30').waitFor()
    expect(new Set(await page.locator('.rows h2').allTextContents()).size).toBe(30)
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    await page.getByLabel('Order').selectOption('Oldest first')
    await page.getByText('24 of 30').waitFor()
    expect(await page.locator('.rows h2').first().textContent()).toBe('group 0')
  })

  test('keep what was done since an asset was asked for, and what they were narrowed down to', async () => {
    await using house = await openHouse({ processingMs: Number.POSITIVE_INFINITY })
    const groupId = await withGroup(house, 'holidays')
    const { id } = house.emulator.library.addAsset({ groupId, name: 'slow', status: 'Processing' })
    house.emulator.library.addAsset({ groupId, name: 'done' })
    await using visiting = await visit(browser, house)
    const { page } = visiting
    await login(page)
    /** Lets the page have the answer to its next look, which the server gives at once, after something else was done. */
    const meanwhile = async (act: () => Promise<void>) => {
      const looking = Promise.withResolvers<void>()
      const done = Promise.withResolvers<void>()
      await page.route(`**/assets/${id}`, async (route) => {
        if (route.request().method() !== 'GET') return route.continue()
        const response = await route.fetch()
        looking.resolve()
        await done.promise
        await route.fulfill({ response })
      })
      const looked = page.waitForResponse(
        (response) => response.request().method() === 'GET' && response.url().endsWith(id),
      )
      await looking.promise
      await act()
      done.resolve()
      await looked
      await page.unroute(`**/assets/${id}`)
      await page.evaluate(asked)
    }
    await page.getByRole('link', { name: 'holidays' }).click()
    await meanwhile(async () => {
      await page.getByRole('button', { name: 'Rename slow' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('late')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { name: 'late' }).waitFor()
    })
    expect(await page.getByRole('heading', { name: 'late' }).count()).toBe(1)
    await meanwhile(async () => {
      await page.getByRole('search').getByLabel('Name').fill('done')
      await page.getByRole('button', { name: 'Filter' }).click()
      await page.getByText('1 of 1').waitFor()
    })
    expect(await page.getByRole('heading', { name: 'late' }).count()).toBe(0)
    expect(await page.getByText('1 of 1').count()).toBe(1)
  })

  test('ask for assets only as long as one is being processed, and not while nobody looks', async () => {
    await using house = await openHouse({ processingMs: Number.POSITIVE_INFINITY })
    const groupId = await withGroup(house, 'holidays')
    const { id } = house.emulator.library.addAsset({ groupId, name: 'slow', status: 'Processing' })
    house.emulator.library.addAsset({ groupId, name: 'done' })
    await using visiting = await visit(browser, house)
    const { page } = visiting
    await login(page)
    const looks = countLooks(page)
    await page.clock.install()
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('heading', { name: 'done' }).waitFor()
    const look = page.waitForResponse((response) => response.url().endsWith(id))
    await page.clock.fastForward(2_100)
    await look
    expect(looks()).toBe(1)

    // Seen by nobody.
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.clock.runFor(60_000)
    await page.evaluate(asked)
    expect(looks()).toBe(1)

    // Seen again: at once. Then it is deleted elsewhere, and goes.
    house.emulator.library.deleteAsset(id)
    await page.evaluate('delete document.visibilityState')
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.clock.runFor(1)
    await page.getByText('1 of 1').waitFor()
    const before = looks()
    await page.clock.runFor(60_000)
    await page.evaluate(asked)
    expect(looks()).toBe(before)
  })

  test('of assets keep the picture that is shown already, though its link is another one at each read', async () => {
    await using house = await openHouse()
    const groupId = await withGroup(house, 'holidays')
    house.emulator.library.addAsset({ groupId, name: 'beach' })
    await using visiting = await visit(browser, house)
    const { page } = visiting
    let loaded = 0
    page.on('request', (request) => {
      if (request.resourceType() === 'image' && request.url().includes('X-Tos-Date')) loaded++
    })
    await login(page)
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('img', { name: 'beach' }).waitFor()
    house.emulator.library.advance(60_000)
    const [answered] = await Promise.all([
      page.waitForResponse((response) => response.url().includes('SortOrder=Asc')),
      page.getByLabel('Order').selectOption('Oldest first'),
    ])
    await answered.finished()
    await page.locator('.cards[aria-busy="false"]').waitFor()
    expect(loaded).toBe(1)
  })

  test('speak Chinese to those who do', async () => {
    await using house = await openHouse()
    await using visiting = await visit(browser, house, { locale: 'zh-CN' })
    const { page, trouble } = visiting
    await page.getByRole('heading', { name: '登录' }).waitFor()
    await page.getByLabel('用户名').fill('ann')
    await page.getByLabel('密码').fill('a long enough password')
    await page.getByRole('button', { name: '登录' }).click()
    await page.getByRole('heading', { level: 1, name: '素材组' }).waitFor()
    await page.getByText('还没有素材组').waitFor()
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe('zh')
    expect(await page.title()).toBe('素材 · sluice')
    expect(trouble).toEqual([])
  })
})
