/** Runs with `--all`: a browser pages, filters and polls lists. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { type Fixture, openFixture } from './fixture.ts'

const withGroup = async (fixture: Fixture, name: string): Promise<string> => {
  const { id } = fixture.emulator.library.addGroup({ name })
  await fixture.store.adoptGroup({ id, user: fixture.user, type: 'AIGC', name, createdAt: Date.now() })
  return id
}

/** Counts the page's requests for a single asset. */
const countPolls = (page: Page): (() => number) => {
  let polls = 0
  page.on('request', (request) => {
    if (/\/proxy\/assets\/asset-[^/]+$/.test(request.url())) polls++
  })
  return () => polls
}

/** Resolves after the frames in which a scrolled list is rendered. */
const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))'

/** Whether the page is scrolled to its end. */
const atEnd = 'scrollY + innerHeight >= document.documentElement.scrollHeight - 2'

/** Evaluates to true once the page has sent all requests that it began before. */
const earlierRequestsSent = `fetch('/healthz').then(() => true)`

setDefaultTimeout(300_000)

describeWithBrowser('lists', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('load what is in view, and every item once', async () => {
    await using fixture = await openFixture()
    for (let at = 0; at < 130; at++) await withGroup(fixture, `group ${at}`)
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByText('130 groups').waitFor()
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    expect(await page.locator('.rows > li').count()).toBeLessThan(40)
    const seen = new Set<string>()
    for (let top = 0; ; top += 500) {
      await page.evaluate(`scrollTo(0, ${top})`)
      await page.evaluate(painted)
      await page.locator('.long-list .skeleton').first().waitFor({ state: 'detached' })
      for (const name of await page.locator('.rows h2').allTextContents()) seen.add(name)
      if (await page.evaluate<boolean>(atEnd)) break
    }
    expect(seen.size).toBe(130)
    await page.evaluate('scrollTo(0, 0)')
    await page.getByLabel('Order').selectOption('Oldest first')
    await page.locator('.rows h2').first().getByText('group 0', { exact: true }).waitFor()
    expect(page.url()).toEndWith('?order=CreateTime+Asc')
  })

  test('keep a change and a filter that were made during a poll', async () => {
    await using fixture = await openFixture({ processingMs: Number.POSITIVE_INFINITY })
    const groupId = await withGroup(fixture, 'holidays')
    const { id } = fixture.emulator.library.addAsset({ groupId, name: 'slow', status: 'Processing' })
    fixture.emulator.library.addAsset({ groupId, name: 'done' })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    /** Runs `act` while the response to the next poll is held back. */
    const duringPoll = async (act: () => Promise<void>) => {
      const started = Promise.withResolvers<void>()
      const done = Promise.withResolvers<void>()
      await page.route(`**/assets/${id}`, async (route) => {
        if (route.request().method() !== 'GET') return route.continue()
        const response = await route.fetch()
        started.resolve()
        await done.promise
        await route.fulfill({ response })
      })
      const polled = page.waitForResponse(
        (response) => response.request().method() === 'GET' && response.url().endsWith(id),
      )
      await started.promise
      await act()
      done.resolve()
      await polled
      await page.unroute(`**/assets/${id}`)
      await page.evaluate(earlierRequestsSent)
    }
    await page.getByRole('link', { name: 'holidays' }).click()
    await duringPoll(async () => {
      await page.getByRole('button', { name: 'Rename slow' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('late')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { name: 'late' }).waitFor()
    })
    expect(await page.getByRole('heading', { name: 'late' }).count()).toBe(1)
    await duringPoll(async () => {
      await page.getByLabel('Find by name').fill('done')
      await page.getByText('1 asset', { exact: true }).waitFor()
    })
    expect(await page.getByRole('heading', { name: 'late' }).count()).toBe(0)
    expect(await page.getByText('1 asset', { exact: true }).count()).toBe(1)
  })

  test('poll assets only while one is being processed and the page is visible', async () => {
    await using fixture = await openFixture({ processingMs: Number.POSITIVE_INFINITY })
    const groupId = await withGroup(fixture, 'holidays')
    const { id } = fixture.emulator.library.addAsset({ groupId, name: 'slow', status: 'Processing' })
    fixture.emulator.library.addAsset({ groupId, name: 'done' })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    const polls = countPolls(page)
    await page.clock.install()
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('heading', { name: 'done' }).waitFor()
    const poll = page.waitForResponse((response) => response.url().endsWith(id))
    await page.clock.fastForward(2_100)
    await poll
    expect(polls()).toBe(1)

    // The page is hidden.
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.clock.runFor(60_000)
    await page.evaluate(earlierRequestsSent)
    expect(polls()).toBe(1)

    // The page is visible again: it polls at once. Another client has deleted the asset, so it disappears.
    fixture.emulator.library.deleteAsset(id)
    await page.evaluate('delete document.visibilityState')
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.clock.runFor(1)
    await page.getByText('1 asset', { exact: true }).waitFor()
    const before = polls()
    await page.clock.runFor(60_000)
    await page.evaluate(earlierRequestsSent)
    expect(polls()).toBe(before)
  })

  test('of assets do not load a picture again when its signed address changes', async () => {
    await using fixture = await openFixture()
    const groupId = await withGroup(fixture, 'holidays')
    fixture.emulator.library.addAsset({ groupId, name: 'beach' })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    let loaded = 0
    page.on('request', (request) => {
      if (request.resourceType() === 'image' && request.url().includes('X-Tos-Date')) loaded++
    })
    await login(page)
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('img', { name: 'beach' }).waitFor()
    fixture.emulator.library.advance(60_000)
    const [response] = await Promise.all([
      page.waitForResponse((response) => response.url().includes('SortOrder=Asc')),
      page.getByLabel('Order').selectOption('Oldest first'),
    ])
    await response.finished()
    await page.locator('.cards[aria-busy="false"]').waitFor()
    expect(loaded).toBe(1)
  })

  test('are in Chinese for a Chinese browser', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture, { locale: 'zh-CN' })
    const { page, errors } = visiting
    await page.getByRole('heading', { name: '登录' }).waitFor()
    await page.getByLabel('用户名').fill('ann')
    await page.getByLabel('密码').fill('a long enough password')
    await page.getByRole('button', { name: '登录' }).click()
    await page.getByRole('heading', { level: 1, name: '素材组' }).waitFor()
    await page.getByText('还没有素材组').waitFor()
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe('zh')
    expect(await page.title()).toBe('素材 · sluice')
    expect(errors).toEqual([])
  })
})
