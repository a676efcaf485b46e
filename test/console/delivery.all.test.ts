/** Runs with `--all`: a browser loads the first screen of a default server. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { openAdminFixture } from './admin/fixture.ts'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'

setDefaultTimeout(300_000)

/** The responses while `act` runs, without those of the browser's cache, and the bytes of all of them. */
const recorded = async (page: Page, act: () => Promise<unknown>) => {
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  const responses = new Map<string, string>()
  let bytes = 0
  client.on('Network.responseReceived', ({ requestId, response }) => {
    if (!response.url.startsWith('http') || response.fromDiskCache) return
    responses.set(requestId, `${response.status} ${new URL(response.url).pathname.replace(/-\w{8}\./, '.')}`)
  })
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (responses.has(requestId)) bytes += encodedDataLength
  })
  await act()
  await client.detach()
  return { paths: [...responses.values()].sort(), bytes }
}

describeWithBrowser('the first screen', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('takes at most 6 requests and 60 kB, and a second visit sends no file again', async () => {
    await using fixture = await openAdminFixture()
    await using visiting = await visit(browser, fixture)
    await login(visiting.page)
    const cookies = await visiting.context.storageState()
    const context = await browser.newContext({ storageState: cookies, locale: 'en-GB' })
    try {
      const page = await context.newPage()
      const open = async () => {
        await page.goto(`${fixture.url}/console`)
        await page.getByText('No groups yet').waitFor()
      }
      const first = await recorded(page, open)
      expect(first.paths).toEqual([
        ...['200 /api/media/proxy/assets/groups', '200 /api/session', '200 /api/tokens'],
        ...['200 /console', '200 /console/app.js', '200 /console/style.css'],
      ])
      expect(first.bytes).toBeLessThan(60_000)
      await page.goto('about:blank')
      const second = await recorded(page, open)
      expect(second.paths.filter((path) => path.includes('/console'))).toEqual(['200 /console'])
      expect(second.bytes).toBeLessThan(6_000)
    } finally {
      await context.close()
    }
  })

  test('loads the modules of another screen when it is opened, and says so when they are gone', async () => {
    await using fixture = await openAdminFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    const opened = await recorded(page, async () => {
      await page.getByRole('link', { name: 'Usage' }).click()
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
      await page.getByText('No usage in these days').waitFor()
    })
    expect(opened.paths).toContain('200 /console/usage.js')
    // A new version of the server no longer has the files of the page.
    await page.route('**/console/chat-*.js', (route) => route.fulfill({ status: 404 }))
    await page.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('alert').getByText('could not be loaded').waitFor()
    await page.unroute('**/console/chat-*.js')
    await page.getByRole('button', { name: 'Reload the page' }).click()
    await page.getByLabel('Question').waitFor()
  })
})
