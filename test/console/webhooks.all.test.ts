/** Runs with `--all`: a browser adds and deletes webhooks. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { openFixture } from './fixture.ts'
import { openMediaFixture } from './media-fixture.ts'

const webhook = (url: string, changes: object) => ({
  ...{ id: url, url, types: null, status: 'active', waiting: 0, created_at: '2026-01-31T12:00:00.000Z' },
  ...{ delivered_at: null, failing_since: null, last_error: null, disabled_at: null },
  ...changes,
})

setDefaultTimeout(300_000)

describeWithBrowser('webhooks', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('show how they are: what waits, why they fail, since when they are disabled', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const error = 'status 500 <img src=x onerror=alert(1)>'
    const webhooks = [
      webhook('https://a.example/', { types: ['video.*', 'asset.active'], delivered_at: '2026-01-31T13:00:00.000Z' }),
      webhook('https://b.example/', { status: 'failing', waiting: 1_000, last_error: error }),
      webhook('https://c.example/', {
        status: 'disabled',
        last_error: 'gone',
        disabled_at: '2026-01-31T14:00:00.000Z',
      }),
    ]
    await page.route('**/api/webhooks', (route) => route.fulfill({ json: { success: true, webhooks } }))
    await login(page)
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    const rows = page.locator('.rows li')
    await rows.nth(2).waitFor()
    const texts = (await rows.allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim())
    expect(texts).toEqual([
      expect.stringMatching(/Active ?Videos, asset\.active ?Last accepted 31 Jan 2026, 13:00/),
      expect.stringContaining('Failing'),
      expect.stringMatching(/Disabled.*gone.*Nothing is sent since 31 Jan 2026, 14:00/),
    ])
    expect(texts[1]).toContain('Waiting events: 1,000')
    expect(texts[1]).toContain(error)
    expect(visiting.errors).toEqual([])
  })

  test('are not offered by a server without them, and the page says so', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('This server has no webhooks.').waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
  })
})
