/** Runs with `--all`: a browser meets failures of the server and of the network. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { openFixture } from './fixture.ts'

setDefaultTimeout(300_000)

describeWithBrowser('the console', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  const open = async () => {
    const fixture = await openFixture()
    const visiting = await visit(browser, fixture)
    await login(visiting.page)
    await visiting.page.getByText('No groups yet').waitFor()
    return {
      ...{ fixture, visiting, page: visiting.page },
      async [Symbol.asyncDispose]() {
        await visiting[Symbol.asyncDispose]()
        await fixture[Symbol.asyncDispose]()
      },
    }
  }
  const usage = '**/api/usage?*'

  test('shows the error of a dialog that was closed meanwhile', async () => {
    await using opened = await open()
    const { page } = opened
    const answered = Promise.withResolvers<void>()
    await page.route('**/assets/groups', async (route) => {
      await answered.promise
      await route.fulfill({ status: 409, json: { error: { message: 'that name is taken' } } })
    })
    await page.getByRole('button', { name: 'New group' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('holidays')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    answered.resolve()
    await page.getByRole('status').getByText('The server refused this: that name is taken').waitFor()
  })

  test('counts down after a 429, and only then tries again', async () => {
    await using opened = await open()
    const { page } = opened
    let calls = 0
    await page.route(usage, (route) => {
      calls++
      const headers = { 'retry-after': '3', 'x-request-id': 'request-42' }
      return route.fulfill({ status: 429, headers, json: { error: { message: 'too many requests' } } })
    })
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('alert').getByText('That was too much for now: too many requests').waitFor()
    const waiting = page.getByRole('button', { name: /^Try again in \d s$/ })
    await waiting.click({ force: true })
    await page.getByRole('button', { name: 'Try again', exact: true }).waitFor()
    expect(calls).toBe(1)
    await page.unroute(usage)
    await page.getByRole('button', { name: 'Try again', exact: true }).click()
    await page.getByText('No usage in these days').waitFor()
  })

  test('shows the words of the API inside its own, with the id of the request to copy', async () => {
    await using opened = await open()
    const { page, visiting } = opened
    await visiting.context.grantPermissions(['clipboard-write', 'clipboard-read'])
    await page.route(usage, (route) => {
      const headers = { 'x-request-id': 'request-42' }
      return route.fulfill({ status: 500, headers, json: { error: { message: 'usage could not be loaded' } } })
    })
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('alert').getByText('The server could not do this: usage could not be loaded').waitFor()
    await page.getByText('request-42').waitFor()
    await page.getByRole('button', { name: 'Copy the request ID' }).click()
    await page
      .getByRole('alert')
      .getByRole('status')
      .filter({ hasText: /Copied|Failed/ })
      .waitFor()
  })

  test('says that the connection is lost, and shows everything again when it is back', async () => {
    await using opened = await open()
    const { page, visiting } = opened
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByText('No usage in these days').waitFor()
    await visiting.context.setOffline(true)
    await page.getByRole('button', { name: 'Refresh' }).click()
    const notice = page.getByRole('status').getByText('The connection to the server is lost.')
    await notice.waitFor()
    await page.getByRole('alert').waitFor()
    await visiting.context.setOffline(false)
    await notice.waitFor({ state: 'detached' })
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('loads again what it shows when the user comes back after a while, and not after a moment', async () => {
    await using opened = await open()
    const { page } = opened
    await page.clock.install()
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByText('No usage in these days').waitFor()
    let calls = 0
    page.on('request', (request) => {
      if (request.url().includes('/api/usage?')) calls++
    })
    const become = (state: 'hidden' | 'visible') =>
      page.evaluate<void>(`(() => {
        Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      })()`)
    await become('hidden')
    await page.clock.fastForward(5_000)
    await become('visible')
    await become('hidden')
    await page.clock.fastForward(60_000)
    const loaded = page.waitForResponse((response) => response.url().includes('/api/usage?'))
    await become('visible')
    await loaded
    expect(calls).toBe(1)
  })

  test('has a page for a group that is not there', async () => {
    await using opened = await open()
    const { page, fixture } = opened
    await page.goto(`${fixture.url}/console#/groups/AIGC/group-20260101000000-aaaaa`)
    await page.getByRole('heading', { level: 1, name: 'This group is not there' }).waitFor()
    await page.getByRole('link', { name: 'To the groups' }).click()
    await page.getByText('No groups yet').waitFor()
  })
})
