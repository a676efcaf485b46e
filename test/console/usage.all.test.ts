/** Runs with `--all`: a browser shows the usage of a default server. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { openAdminFixture } from './admin/fixture.ts'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'

setDefaultTimeout(300_000)

const dayMs = 86_400_000

/** A server with limits, and the usage of some days. */
const openUsageFixture = async (models: readonly string[] = ['alpha', 'beta']) => {
  const fixture = await openAdminFixture(
    { USER_LIMITS: '[{"unit":"tokens","amount":10000000,"window":"day"},{"unit":"groups","amount":3}]' },
    { video: { queuedMs: 0, runningMs: 0 } },
  )
  const now = Date.now()
  for (const [at, model] of models.entries()) {
    for (const days of [0, 2]) {
      const tokens = { input: 100 * (at + 1), output: 50, cachedInput: 0, reasoning: 0 }
      const entry = { user: fixture.admin.id, token: undefined, model, at: now - days * dayMs, tokens }
      fixture.store.recordUsage({ ...entry, cost: 250_000_000 })
    }
  }
  fixture.store.recordUsage({
    ...{ user: fixture.admin.id, token: undefined, model: '=old', at: now - 40 * dayMs },
    tokens: { input: 7, output: 7, cachedInput: 0, reasoning: 0 },
  })
  await fixture.store.flushUsage()
  return fixture
}

describeWithBrowser('the usage screen', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('shows bars by day, stacked by model, and the same figures as tables', async () => {
    await using fixture = await openUsageFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Usage' }).click()
    const plot = page.getByRole('img', { name: 'Text: Tokens by day and model' })
    await plot.waitFor()
    // Two days with two models.
    expect(await plot.locator('rect[class^=series-]').count()).toBe(4)
    const models = page.getByRole('region', { name: 'Text: sums by model' })
    expect(await models.getByRole('row').allInnerTexts()).toEqual([
      'Model\tTokens\tCost\tCalls',
      'beta\t500\t0.50\t2',
      'alpha\t300\t0.50\t2',
      'Total\t800\t1.00\t4',
    ])
    await page.getByText('The bars as a table').click()
    const bars = page.getByRole('region', { name: 'Text: Tokens by day and model' })
    const filled = (await bars.getByRole('row').allInnerTexts()).filter((row) => !/\t0\t0$/.test(row))
    expect(filled.map((row) => row.split('\t').slice(1))).toEqual([
      ['beta', 'alpha'],
      ['250', '150'],
      ['250', '150'],
    ])
    await page.getByRole('button', { name: 'Cost' }).click()
    await page.getByRole('img', { name: 'Text: Cost by day and model' }).waitFor()
    expect(visiting.errors).toEqual([])
  })

  test('has the days of the chosen range, and gives them as CSV without formulas', async () => {
    await using fixture = await openUsageFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/usage`)
    const models = page.getByRole('region', { name: 'Text: sums by model' })
    await models.getByText('beta').waitFor()
    expect(await models.getByText('=old').count()).toBe(0)
    await page.getByRole('button', { name: '90 days' }).click()
    await models.getByText('=old').waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    const lines = (await readFile(await (await downloading).path(), 'utf8')).split('\r\n')
    expect(lines[0]).toBe(
      'day,token,model,calls,unreported,input_tokens,cached_tokens,output_tokens,reasoning_tokens,video_seconds,cost',
    )
    expect(lines.filter((line) => line.includes('old'))).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d,,'=old,1,0,7,0,7,0,,$/),
    ])
    const from = new Date(Date.now() - dayMs).toISOString().slice(0, 10)
    await page.getByLabel('From').fill(from)
    await models
      .getByText('beta\t250')
      .or(models.getByText('250', { exact: true }))
      .first()
      .waitFor()
    expect(await page.getByRole('button', { name: '90 days' }).getAttribute('aria-pressed')).toBe('false')
  })

  test('puts the models beyond five into one', async () => {
    await using fixture = await openUsageFixture(['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'])
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/usage`)
    await page.locator('.legend').waitFor()
    expect(await page.locator('.legend li').allTextContents()).toEqual(['m8', 'm7', 'm6', 'm5', 'm4', 'Other models'])
  })

  test('shows videos apart from text, and what is left of each limit and when it returns', async () => {
    await using fixture = await openUsageFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    const status = await page.evaluate<number>(`(async () => {
      const headers = { 'content-type': 'application/json' }
      const { token } = await (await fetch('/api/tokens', { method: 'POST', headers, body: '{}' })).json()
      const init = { method: 'POST', headers: { ...headers, authorization: 'Bearer ' + token.token } }
      const body = JSON.stringify({ model: 'doubao-seedance-2-0-260128', content: [{ type: 'text', text: 'Waves' }] })
      return (await fetch('/api/v3/contents/generations/tasks', { ...init, body })).status
    })()`)
    expect(status).toBe(200)
    await page.goto(`${fixture.url}/console#/usage`)
    const isShown = () => page.getByRole('img', { name: 'Videos: Seconds by day and model' }).isVisible()
    await page.getByRole('button', { name: 'Refresh' }).waitFor()
    while (!(await isShown())) await page.getByRole('button', { name: 'Refresh' }).click()
    const videos = page.getByRole('region', { name: 'Videos: sums by model' })
    expect((await videos.getByRole('row').allInnerTexts())[1]).toBe('doubao-seedance-2-0-260128\t5\t1')
    const limits = page.getByRole('list', { name: 'Limits' }).getByRole('listitem')
    expect(await limits.allInnerTexts()).toEqual([
      expect.stringMatching(/^Tokens a day\s+[\d,]+ of 10,000,000 left\s+Returns \d/),
      expect.stringMatching(/^Groups\s+3 of 3 left$/),
    ])
    expect(visiting.errors).toEqual([])
  })
})
