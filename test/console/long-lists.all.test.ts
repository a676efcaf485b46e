/** Runs with `--all`: a browser scrolls through 10,000 assets. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { openMediaFixture } from './media-fixture.ts'

const count = 10_000

/** Resolves after the frames in which a scrolled list is rendered. */
const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'

/** Waits for a condition, in each frame: the policy of the page forbids `waitForFunction`. */
const until = (page: Page, condition: string): Promise<void> =>
  page.evaluate<void>(
    `new Promise((done, fail) => {
      setTimeout(() => fail(new Error(${JSON.stringify(condition)} + ' is not so after a minute, but scrollY ' + scrollY)), 60_000)
      const look = () => (${condition}) ? done() : requestAnimationFrame(look)
      look()
    })`,
  )

/** Counts what the page does: the most elements at once, and the elements that were added. */
const countWork = `(() => {
  const work = window.work = { most: 0, added: 0 }
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) if (node instanceof Element) work.added += 1 + node.querySelectorAll('*').length
    work.most = Math.max(work.most, document.querySelectorAll('*').length)
  }).observe(document.querySelector('main'), { childList: true, subtree: true })
})()`

const workOf = (page: Page) => page.evaluate<{ most: number; added: number }>('window.work')

/** The first asset that is wholly in view. */
const inView = `[...document.querySelectorAll('[data-item] a')].find((link) => link.getBoundingClientRect().top > 100)`

setDefaultTimeout(300_000)

describeWithBrowser('a list of 10,000 assets', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  const open = async () => {
    const fixture = await openMediaFixture()
    const group = await fixture.addGroup('many')
    for (let nth = 0; nth < count; nth++)
      fixture.emulator.library.addAsset({ groupId: group, name: `asset ${nth}${nth % 1_000 === 0 ? ' Needle' : ''}` })
    const visiting = await visit(browser, fixture)
    return {
      ...{ fixture, group, visiting, page: visiting.page },
      [Symbol.asyncDispose]: async () => {
        await visiting[Symbol.asyncDispose]()
        await fixture[Symbol.asyncDispose]()
      },
    }
  }

  for (const view of ['grid', 'table'] as const) {
    test(`has only the visible ones in the page, and requests only their pages: ${view}`, async () => {
      await using opened = await open()
      const { page, fixture, group } = opened
      let requests = 0
      page.on('request', (request) => {
        if (request.url().includes('PageNumber=')) requests++
      })
      await login(page)
      await page.goto(`${fixture.url}/console#/groups/AIGC/${group}?view=${view}`)
      await page.getByText('10,000 assets').waitFor()
      await page.locator('[data-item] a').first().waitFor()
      await page.evaluate(countWork)
      // One screen after the other, as many as are enough for a list that keeps or requests too much.
      const height = await page.evaluate<number>('document.documentElement.scrollHeight')
      expect(height).toBeGreaterThan(100_000)
      const screens = 20
      for (let screen = 0; screen < screens; screen++) {
        await page.evaluate(`scrollTo(0, ${700 * screen})`)
        await page.evaluate(painted)
      }
      const { most, added } = await workOf(page)
      expect(most).toBeLessThan(1_500)
      // Each item is rendered once, and again when it has been loaded.
      expect(added / screens).toBeLessThan(1_500)
      expect(requests).toBeLessThan(screens)
      // The end of the list, and only its own pages.
      await page.evaluate(`scrollTo(0, ${height})`)
      await page
        .getByRole(view === 'grid' ? 'listitem' : 'row')
        .filter({ hasText: 'asset' })
        .last()
        .waitFor()
      await page.locator('.long-list .skeleton').first().waitFor({ state: 'detached' })
      const last = page.locator('[data-item]').last()
      expect(await last.getAttribute(view === 'grid' ? 'aria-posinset' : 'aria-rowindex')).toBe(
        String(view === 'grid' ? count : count + 1),
      )
      expect(requests).toBeLessThan(screens + 10)
      expect(opened.visiting.errors).toEqual([])
    })
  }

  test('is searched by a part of the name while the user types, and the address keeps the search', async () => {
    await using opened = await open()
    const { page, fixture } = opened
    await login(page)
    await page.goto(`${fixture.url}/console#/groups/all`)
    await page.getByText('10,000 assets').waitFor()
    await page.getByLabel('Find by name').pressSequentially('needLE')
    await page.getByText('10 assets', { exact: true }).waitFor()
    expect(page.url()).toEndWith('#/groups/all?q=needLE')
    await page.reload()
    await page.getByText('10 assets', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByText('10,000 assets').waitFor()
  })

  test('is where it was left when the user comes back from an asset, by the browser or by the link', async () => {
    await using opened = await open()
    const { page, fixture } = opened
    await login(page)
    const address = `${fixture.url}/console#/groups/all?order=CreateTime+Asc`
    await page.goto(address)
    await page.getByText('10,000 assets').waitFor()
    await page.evaluate('scrollTo(0, 50000)')
    for (const comeBack of [() => page.goBack(), () => page.getByRole('link', { name: 'All assets' }).click()]) {
      await until(page, `scrollY > 40_000 && ${inView}`)
      const { title, top } = await page.evaluate<{ title: string; top: number }>(
        `(() => { const link = ${inView}; link.click(); return { title: link.textContent, top: scrollY } })()`,
      )
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await until(page, 'scrollY === 0')
      await comeBack()
      await page.getByRole('heading', { level: 1, name: 'All assets' }).waitFor()
      await until(page, `Math.abs(scrollY - ${top}) <= 1`)
      expect(page.url()).toBe(address)
      await page.getByRole('link', { name: title, exact: true }).waitFor()
      await until(page, `${inView}?.textContent === ${JSON.stringify(title)}`)
      await until(page, `document.activeElement.textContent === 'All assets'`)
    }
  })
})
