/** Runs with `--all`: an admin reads reports and decides in a browser, on a server of its own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { printAudit } from '../../../src/admin/audit.ts'
import { describeWithBrowser, openBrowser } from '../browser.ts'
import { name } from '../fixture.ts'
import { type AdminFixture, addUsers, openAdminFixture, submit, visitAdmin } from './fixture.ts'

setDefaultTimeout(300_000)

const minuteMs = 60_000
const dayMs = 86_400_000
const dialog = (page: Page) => page.getByRole('dialog')
const press = (page: Page, button: string) => page.getByRole('button', { name: button, exact: true }).click()

describeWithBrowser('an admin', () => {
  let browser: Browser
  let fixture: AdminFixture
  beforeAll(async () => {
    browser = await openBrowser()
    fixture = await openAdminFixture({
      VIDEO_UPSTREAM_URL: undefined,
      VIDEO_UPSTREAM_KEY: undefined,
      METRICS_TOKEN: 'a-secret-that-nobody-may-see',
    })
  })
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]()
    await browser?.close()
  })

  /** Usage of two users and two models, today and yesterday. */
  const addUsage = async () => {
    const [bob, carol] = await addUsers(fixture, 2, (number) => ({ name: ['usage-bob', 'usage-carol'][number] ?? '' }))
    const tokens = { input: 1_000, cachedInput: 0, output: 500, reasoning: 0 }
    const token = await fixture.store.addUserToken(bob?.id ?? '', {
      ...{ hash: 'b'.repeat(64), start: 'sk-usage', label: 'usage-token', scopes: ['text'], createdAt: Date.now() },
    })
    if (typeof token !== 'object') throw new Error(token)
    for (const [user, model, before, cost] of [
      [bob, 'gpt-x', 0, 2_000_000_000],
      [bob, 'gpt-y', 0, 500_000_000],
      [carol, 'gpt-x', 1, 250_000_000],
    ] as const)
      fixture.store.recordUsage({
        user: user?.id ?? '',
        token: user === bob ? token.id : undefined,
        model,
        at: Date.now() - before * dayMs,
        tokens,
        cost,
      })
    await fixture.store.flushUsage()
  }

  test('sees the figures of the server, the alerts that its rules would fire, and its upstreams, as they change', async () => {
    const { store } = fixture
    const ages = Array.from({ length: 25 }, (_, age) => age)
    const fail = (series: readonly string[], value: number) =>
      Promise.all(
        ages.map((age) =>
          store.addMetricCounts({ counts: [{ series, value }], peaks: [] }, Date.now() - age * minuteMs),
        ),
      )
    await fail(['requests', '200'], 80)
    await fail(['requests', '502'], 20)
    await store.addMetricCounts({ counts: [{ series: ['videos', 'failed'], value: 7 }], peaks: [] }, Date.now())
    await using visiting = await visitAdmin(browser, fixture, 'overview')
    const { page } = visiting
    const alert = page.getByRole('listitem').filter({ hasText: 'SluiceErrors' })
    await alert.getByText('Firing').waitFor()
    await alert.getByText('More than 5 % of the responses are server errors.').waitFor()
    expect(await page.getByRole('listitem').filter({ hasText: 'SluiceUpstreamFailing' }).count()).toBe(0)
    const cells = async (row: string) =>
      (await page.getByRole('row', { name: row }).getByRole('cell').allTextContents()).map((text) => text.trim())
    const [now = '', ...errors] = await cells('Server errors (5xx)')
    expect(now).toBe('20 a minute')
    expect(errors.at(-1)).toBe('500')
    expect((await cells('Videos not succeeded')).at(-1)).toBe('7')
    for (const upstream of ['assets', /^text /]) await page.getByRole('heading', { level: 3, name: upstream }).waitFor()
    await page.getByText('The same as a table').click()
    const hours = page.getByRole('region', { name: 'Requests of the last 24 hours' }).getByRole('row')
    expect(await hours.count()).toBe(25)

    // The server counts its own requests, too: the first one of the page was without a session.
    const counted = async () =>
      (await store.metricCounts('hour', 0)).some(({ series }) => series.join(' ') === 'requests 401')
    while (!(await counted())) await Bun.sleep(100)

    // Polled: what another process has counted appears without a click.
    await store.addMetricCounts({ counts: [{ series: ['videos', 'failed'], value: 4 }], peaks: [] }, Date.now())
    await page.getByRole('row', { name: 'Videos not succeeded' }).getByText('11').first().waitFor({ timeout: 60_000 })
    expect(visiting.errors).toEqual([])
  })

  test('sums usage by day, user, team, token and model, in a range, as a plot, a table and CSV', async () => {
    await addUsage()
    await using visiting = await visitAdmin(browser, fixture, 'usage')
    const { page } = visiting
    const table = page.getByRole('region', { name: 'Usage', exact: true })
    await table.getByRole('row', { name: 'usage-bob gpt-x' }).waitFor()
    expect(await table.getByRole('row', { name: /^Total/ }).textContent()).toMatch(/3.*3,000.*1,500.*2\.75/)
    const plot = page.getByRole('img', { name: 'Cost by day and model' })
    await plot.waitFor()
    expect(await plot.locator('rect:not(.hit)').count()).toBe(3)
    await press(page, 'Tokens')
    await page.getByRole('img', { name: 'Tokens by day and model' }).waitFor()
    await page.getByText('The same as a table').click()
    const days = page.getByRole('region', { name: 'Tokens by day and model' }).getByRole('row')
    expect(await days.last().textContent()).toMatch(/1,500.*1,500/)

    await page.getByRole('checkbox', { name: 'User' }).uncheck()
    await page.getByRole('checkbox', { name: 'Day' }).check()
    await table.getByRole('columnheader', { name: 'User' }).waitFor({ state: 'detached' })
    await page.getByLabel('User', { exact: true }).first().fill('usage-car')
    await page.getByLabel('User', { exact: true }).first().fill('usage-carol')
    await table
      .getByRole('row', { name: /^Total/ })
      .getByText('0.25')
      .waitFor()
    await page.getByLabel('Range').selectOption({ label: 'Today' })
    await page.getByText('No usage in this range').waitFor()
    await page.getByLabel('Range').selectOption({ label: '7 days' })
    await table.waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download CSV' }).click()
    const csv = readFileSync(await (await downloading).path(), 'utf8')
    expect(csv.split('\r\n')).toEqual([
      'day,model,calls,unreported,input_tokens,cached_tokens,output_tokens,reasoning_tokens,video_seconds,cost',
      expect.stringMatching(/^20\d\d-\d\d-\d\d,gpt-x,1,0,1000,0,500,0,,0\.25$/),
      '',
    ])
    await page.reload()
    await page.getByLabel('User', { exact: true }).first().waitFor()
    await table
      .getByRole('row', { name: /^Total/ })
      .getByText('0.25')
      .waitFor()
    // The usage of one token, as its row in the lists of tokens links to it.
    await page.goto(`${fixture.url}/console#/admin/tokens`)
    await page.getByRole('link', { name: 'Usage of usage-token' }).click()
    await page.getByText('Only of the API token').waitFor()
    await table
      .getByRole('row', { name: /^Total/ })
      .getByText('2.50')
      .waitFor()
    await press(page, 'Of all tokens')
    await table
      .getByRole('row', { name: /^Total/ })
      .getByText('2.75')
      .waitFor()
    expect(visiting.errors).toEqual([])
  })

  test('reads the audit trail with filters, and verifies it, also against an earlier head, and an exported file', async () => {
    await using visiting = await visitAdmin(browser, fixture, 'audit')
    const { page } = visiting
    await page
      .getByRole('row', { name: /session\.login/ })
      .first()
      .waitFor()
    await page.getByLabel('Action').selectOption('session.login')
    await page
      .getByRole('row', { name: /admin\.read/ })
      .first()
      .waitFor({ state: 'detached' })
    const actions = await page.locator('tbody code').allTextContents()
    expect(new Set(actions)).toEqual(new Set(['session.login']))
    await page.getByLabel('Action').selectOption('group.adopt')
    await page.getByText('Nothing matches the filters').waitFor()
    await press(page, 'Clear the filters')
    await page.getByLabel('User').fill(name)
    await page
      .getByRole('row', { name: /session\.login/ })
      .first()
      .waitFor()

    await press(page, 'Verify')
    await dialog(page).getByLabel('Earlier head').fill('12:abc')
    await dialog(page).getByRole('button', { name: 'Verify' }).click()
    await page.getByText('A head is a number, a colon and 64 digits').waitFor()
    await dialog(page).getByLabel('Earlier head').fill('')
    await dialog(page).getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The audit trail is intact').waitFor()
    const head = (await page.locator('.secret').textContent()) ?? ''
    expect(head).toMatch(/^\d+:[\da-f]{64}$/)
    await press(page, 'Done')
    await press(page, 'Verify')
    await dialog(page)
      .getByLabel('Earlier head')
      .fill(head.replace(/.$/, (last) => (last === '0' ? '1' : '0')))
    await dialog(page).getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The audit trail is not intact').waitFor()
    await press(page, 'Done')

    const lines: string[] = []
    await printAudit(fixture.store, {}, (line) => lines.push(line))
    const verify = async (text: string) => {
      await press(page, 'Verify')
      const file = { name: 'audit.jsonl', mimeType: '', buffer: Buffer.from(text) }
      await dialog(page).getByLabel('Exported file').setInputFiles(file)
      await dialog(page).getByRole('button', { name: 'Verify' }).click()
    }
    await verify(lines.join('\n'))
    await page.getByText('The audit trail is intact').waitFor()
    await press(page, 'Done')
    await verify(lines.join('\n').replace('session.login', 'session.logout'))
    await page.getByText('The audit trail is not intact').waitFor()
    await dialog(page).getByText('changed or forged').waitFor()
  })

  test('adopts and releases groups whose outcome is unknown, and gives a group to a user', async () => {
    const { store } = fixture
    const [owner, other] = await addUsers(fixture, 2, (number) => ({ name: `group-owner-${number}` }))
    const claim = { user: owner?.id ?? '', type: 'AIGC', createdAt: Date.now(), dueAt: Date.now() + dayMs }
    await store.claim({ ...claim, name: 'cats' })
    await store.claim({ ...claim, name: 'dogs' })
    await using visiting = await visitAdmin(browser, fixture, 'decisions')
    const { page } = visiting
    await press(page, 'Adopt cats')
    await dialog(page).getByLabel('ID of the group').fill('no id')
    await dialog(page).getByRole('button', { name: 'Adopt' }).click()
    await page.getByText('This cannot be the ID of a group.').waitFor()
    await dialog(page).getByLabel('ID of the group').fill('group-of-cats')
    await dialog(page).getByLabel('Owner').fill('nobody at all')
    await dialog(page).getByRole('button', { name: 'Adopt' }).click()
    await page.getByText('There is no user of that name.').waitFor()
    await dialog(page).getByLabel('Owner').fill('group-owner-1')
    await submit(page, 'Adopt')
    await page.getByText('cats', { exact: true }).waitFor({ state: 'detached' })
    expect(await store.group('group-of-cats')).toMatchObject({ user: other?.id })

    await press(page, 'Release dogs')
    await dialog(page).getByLabel('Confirmation').fill('dogs')
    await submit(page, 'Release')
    await page.getByText('Nothing to decide').waitFor()
    expect((await store.pendingGroups({ limit: 10 })).items).toEqual([])

    await press(page, 'Give a group to a user')
    await dialog(page).getByLabel('Owner').fill('group-owner-0')
    await dialog(page).getByLabel('ID of the group').fill('group-of-cats')
    await dialog(page).getByLabel('Name of the group').fill('birds')
    await dialog(page).getByRole('button', { name: 'Adopt' }).click()
    await page.getByText('This group belongs to a user already.').waitFor()
    await dialog(page).getByLabel('ID of the group').fill('group-of-birds')
    await submit(page, 'Adopt')
    expect(await store.group('group-of-birds')).toMatchObject({ user: owner?.id, name: 'birds' })
  })

  test('keeps what is typed into a field for a user as soon as the field is there', async () => {
    await using visiting = await visitAdmin(browser, fixture, 'decisions')
    const { page } = visiting
    await page.getByRole('button', { name: 'Give a group to a user' }).waitFor()
    await page.evaluate(`new MutationObserver((_, observer) => {
      const field = document.querySelector('dialog input[name="user"]')
      if (!field) return
      observer.disconnect()
      field.value = 'early'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }).observe(document.body, { childList: true, subtree: true })`)
    await press(page, 'Give a group to a user')
    // Preact runs effects in a timer after a frame.
    await dialog(page).getByLabel('Owner').waitFor()
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(resolve)))))',
    )
    expect(await dialog(page).getByLabel('Owner').inputValue()).toBe('early')
  })

  test('sees the videos of all users, and adopts and releases those that run for too long', async () => {
    const { store } = fixture
    const [owner] = await addUsers(fixture, 1, () => ({ name: 'video-owner' }))
    const started = Date.now() - dayMs
    for (const number of [1, 2]) {
      const task = {
        ...{ id: `cgt-2026010100000${number}-aaaaaaaaaaaaaaaaaaaa`, user: owner?.id ?? '', model: 'a-model' },
        ...{
          serviceTier: 'default' as const,
          fields: '{}',
          request: '{}',
          createdAt: started,
          expiresAt: started + 2 * dayMs,
        },
      }
      const added = await store.addVideoTask(task, undefined, started + minuteMs)
      if (added.outcome !== 'claimed') throw new Error(added.outcome)
      await store.confirmVideoTask(added.task, `up-${number}`, started, started)
      const moved = { id: task.id, status: 'running' as const, task: '{"status":"running"}', dueAt: Date.now() + dayMs }
      await store.moveVideoTasks([moved], started + 1)
      await store.moveVideoTasks([{ ...moved, overruns: true }], started + 2)
    }
    await using visiting = await visitAdmin(browser, fixture, 'decisions/videos')
    const { page } = visiting
    const rows = page.locator('.rows > li')
    await rows.nth(1).waitFor()
    await rows.filter({ hasText: 'up-1' }).getByRole('button', { name: 'Adopt' }).click()
    await dialog(page).getByLabel('ID at the upstream').fill('no id')
    await dialog(page).getByRole('button', { name: 'Adopt' }).click()
    await page.getByText('This cannot be the ID of a task of the upstream.').waitFor()
    await dialog(page).getByLabel('ID at the upstream').fill('up-2')
    await dialog(page).getByRole('button', { name: 'Adopt' }).click()
    await page.getByText('Another video has this ID of the upstream already.').waitFor()
    await dialog(page).getByLabel('ID at the upstream').fill('up-9')
    await submit(page, 'Adopt')
    await rows.filter({ hasText: 'up-1' }).waitFor({ state: 'detached' })
    expect((await store.anyVideoTask('cgt-20260101000001-aaaaaaaaaaaaaaaaaaaa'))?.upstreamId).toBe('up-9')

    await rows.filter({ hasText: 'up-2' }).getByRole('button', { name: 'Release' }).click()
    await dialog(page).getByLabel('Confirmation').fill('video-owner')
    await submit(page, 'Release')
    await page.getByText('Nothing to decide').waitFor()
    expect((await store.anyVideoTask('cgt-20260101000002-aaaaaaaaaaaaaaaaaaaa'))?.status).toBe('failed')
    await page.getByLabel('Show').selectOption('failed')
    await rows.filter({ hasText: 'running_too_long' }).waitFor()
    await page.getByLabel('Show').selectOption('all')
    await rows.nth(1).waitFor()
    await page.getByLabel('User').fill(name)
    await page.getByText('No videos').waitFor()
  })

  test('sees the batches of all users, and cancels what waits', async () => {
    const { store } = fixture
    const [owner] = await addUsers(fixture, 1, () => ({ name: 'batch-owner' }))
    const id = `batch-000000001${'a'.repeat(23)}`
    // Nothing works on it before.
    const createdAt = Date.now() + dayMs
    const batch = { id, user: owner?.id ?? '', group: 'group-of-cats', groupType: 'AIGC', createdAt }
    await store.addAssetBatch(batch, [{ name: 'a', body: '{}' }], 10)
    await using visiting = await visitAdmin(browser, fixture, 'decisions/batches')
    const { page } = visiting
    const rows = page.locator('.rows > li')
    await rows.filter({ hasText: id }).getByText('1 waiting').waitFor()
    // The server ends a cancelled batch within a second, and then it is in this list only.
    await page.getByLabel('Show').selectOption('all')
    await rows.filter({ hasText: id }).getByRole('button', { name: 'Cancel' }).click()
    await dialog(page).getByLabel('Confirmation').fill('batch-owner')
    await submit(page, 'Cancel the batch')
    await rows.filter({ hasText: id }).getByText('Cancelled', { exact: true }).waitFor()
    expect(await rows.filter({ hasText: id }).getByRole('button').count()).toBe(0)
    expect((await store.assetBatchOf(id))?.counts).toEqual({ cancelled: 1 })
    await rows.filter({ hasText: '1 cancelled' }).waitFor()
    await page.getByLabel('User').fill(name)
    await page.getByText('No batches').waitFor()
  })

  test('sees the settings in force, and no secret', async () => {
    await using visiting = await visitAdmin(browser, fixture, 'settings')
    const { page } = visiting
    const { settings } = await page.evaluate<{ settings: object }>(
      "fetch('/api/admin/settings').then((response) => response.json())",
    )
    // More than are rendered at once.
    expect(Object.keys(settings).length).toBeGreaterThan(50)
    const rows = page.locator('tbody tr')
    while ((await rows.count()) < Object.keys(settings).length) await Bun.sleep(20)
    expect(await rows.count()).toBe(Object.keys(settings).length)
    await page
      .getByRole('row', { name: /^METRICS_TOKEN/ })
      .getByText('set', { exact: true })
      .waitFor()
    expect(await page.content()).not.toContain('a-secret-that-nobody-may-see')
    await page
      .getByRole('row', { name: /^LIMITS_TIME_ZONE/ })
      .getByText('UTC')
      .waitFor()
    await page.getByLabel('Part of the variable').fill('log_')
    await page.getByRole('row', { name: /^METRICS_TOKEN/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /^LOG_LEVEL/ }).waitFor()
  })
})
