/** Runs with `--all`: a browser goes through every error; the rules behind them have tests without one. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { type Fixture, name, openFixture } from './fixture.ts'

const withGroup = async (fixture: Fixture, name: string): Promise<string> => {
  const { id } = fixture.emulator.library.addGroup({ name })
  await fixture.store.adoptGroup({ id, user: fixture.user, type: 'AIGC', name, createdAt: Date.now() })
  return id
}

setDefaultTimeout(300_000)

describeWithBrowser('the console shows', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('that the password is wrong, and that there were too many failed logins', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const button = page.getByRole('button')
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Password').fill('wrong')
    await button.click()
    await page.getByRole('alert').getByText('The name or the password is wrong.').waitFor()
    await page.route('**/api/session', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '2' },
        json: { success: false, error: { message: 'x' } },
      }),
    )
    // The wait begins with the response, however long the screen has been open.
    await page.clock.install()
    await page.clock.fastForward(60_000)
    await button.click()
    await page.getByText('Too many failed attempts.').waitFor()
    await page.getByRole('button', { name: /^Try again in [12] s$/, disabled: true }).waitFor()
    await page.unroute('**/api/session')
    await page.getByRole('button', { name: 'Log in', disabled: false }).waitFor()
    await login(page)
  })

  test('that the session has ended, and continues on the same screen after the login', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page, context } = visiting
    await login(page)
    // Wait for the last request: one without a cookie would show the login before the click.
    await page.getByText('No groups yet').waitFor()
    await context.clearCookies()
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByText('Your session has ended.').waitFor()
    await login(page, 'Usage')
  })

  test('that the server cannot be reached, and recovers by itself', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.route('**/api/usage?*', (route) => route.abort())
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/api/usage?*')
    // By the button, or by itself a few seconds later.
    await page.getByText('No usage in these days').waitFor()
  })

  test('an error message of the gateway, and keeps the input', async () => {
    await using fixture = await openFixture()
    await withGroup(fixture, 'holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('button', { name: 'New group' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('holidays')
    await page.keyboard.press('Enter')
    await dialog
      .getByRole('alert')
      .getByText('an asset group with the same Name and GroupType already exists')
      .waitFor()
    expect(await dialog.getByLabel('Name').inputValue()).toBe('holidays')
  })

  test('the upstream’s reason when an asset has failed', async () => {
    await using fixture = await openFixture()
    const groupId = await withGroup(fixture, 'holidays')
    const error = { code: 'FaceMismatch', message: 'Not the verified face.' }
    fixture.emulator.library.addAsset({ groupId, name: 'wrong', status: 'Failed', error })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('link', { name: 'wrong' }).click()
    await page.getByText('What was reported').click()
    await page.getByText('Not the verified face.').waitFor()
    await page.goBack()
    await page.getByLabel('Status').selectOption('Active')
    await page.getByText('Nothing matches the filters').waitFor()
  })

  test('markup in names as text', async () => {
    await using fixture = await openFixture()
    const markup = '<img src=x onerror=alert(1)>'
    const groupId = await withGroup(fixture, markup)
    fixture.emulator.library.addAsset({ groupId, name: '"><script>alert(1)</script>' })
    await using visiting = await visit(browser, fixture)
    const { page, errors } = visiting
    await login(page)
    await page.getByRole('link', { name: markup }).click()
    await page.getByRole('heading', { name: '"><script>alert(1)</script>' }).waitFor()
    expect(errors).toEqual([])
  })

  // 401 is the upstream's own, about the gateway's credentials. The session of the user is valid.
  test.each([502, 401])(
    'an error %p while it polls a face check, continues to poll, and starts a new check',
    async (status) => {
      await using fixture = await openFixture()
      await using visiting = await visit(browser, fixture)
      const { page } = visiting
      await login(page)
      await page.getByRole('link', { name: 'Face check' }).click()
      fixture.faces.failingStatus = status
      await page.clock.install()
      await page.getByRole('button', { name: 'Start face check' }).click()
      await page.getByRole('timer').waitFor()
      await page.clock.fastForward(3_000)
      await page.getByText('Seedance upstream unavailable').waitFor()
      expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(1)
      fixture.faces.failingStatus = 0
      fixture.faces.status = 'failed'
      await page.clock.fastForward(60_000)
      await page.getByRole('heading', { name: 'The check did not succeed' }).waitFor()
      fixture.faces.status = 'waiting_user'
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('timer').waitFor()
      // Another screen does not end the polling.
      await page.getByRole('link', { name: 'Usage' }).click()
      fixture.faces.status = 'expired'
      await page.clock.fastForward(60_000)
      await page.getByRole('status').getByText('The check has expired').waitFor()
      await page.getByRole('link', { name: 'Face check' }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
    },
  )

  test('the received part of an interrupted answer, and retries', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('option', { name: 'emulated-wide' }).waitFor({ state: 'attached' })
    const piece = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'So far' } }] }
    // Wait before the reset: a reset discards data that has not been read.
    const chunks = [`data: ${JSON.stringify(piece)}\n\n`, { wait: 500 }]
    const fault = fixture.emulator.text.respondWith({ chunks, end: 'reset' })
    await page.getByLabel('Question').fill('Hello')
    await page.keyboard.press('Enter')
    await page.locator('.turn.assistant').getByRole('alert').waitFor()
    expect(await page.locator('.turn.assistant').textContent()).toContain('So far')
    fault.remove()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(/tokens out/).waitFor()
    expect(await page.locator('.turn').count()).toBe(2)
  })

  test('that the user stopped an answer, aborts the request, and continues the conversation', async () => {
    await using fixture = await openFixture({ text: { msPerDelta: 60_000 } })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('option', { name: 'emulated-wide' }).waitFor({ state: 'attached' })
    await page.getByLabel('Question').fill('Hello')
    await page.keyboard.press('Enter')
    const aborted = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/chat/completions'))
    await page.getByRole('button', { name: 'Stop the answer' }).click()
    await aborted
    await page.getByText('You stopped this answer.').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Ask anything').waitFor()
  })
})
