/** Runs with `--all`: an admin manages tokens and limits in a browser, on a server of its own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hashToken } from '../../../plugins/api-token/index.ts'
import { describeWithBrowser, openBrowser } from '../browser.ts'
import { type AdminFixture, addUsers, openAdminFixture, submit, visitAdmin } from './fixture.ts'

setDefaultTimeout(300_000)

describeWithBrowser('an admin', () => {
  let browser: Browser
  let fixture: AdminFixture
  beforeAll(async () => {
    browser = await openBrowser()
    fixture = await openAdminFixture({
      USER_LIMITS: '[{"unit":"tokens","amount":5000,"window":"day"}]',
      LIMITS_TIME_ZONE: 'Asia/Shanghai',
    })
  })
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]()
    await browser?.close()
  })

  const dialog = (page: Page) => page.getByRole('dialog')
  const press = (page: Page, button: string) => page.getByRole('button', { name: button, exact: true }).click()

  /** The page of a new user. */
  const openNewUser = async (name: string) => {
    const [user] = await addUsers(fixture, 1, () => ({ name }))
    if (!user) throw new Error()
    const visiting = await visitAdmin(browser, fixture, `users/${user.id}`)
    await visiting.page.getByRole('heading', { level: 1, name }).waitFor()
    return { user, ...visiting, [Symbol.asyncDispose]: () => visiting[Symbol.asyncDispose]() }
  }
  const tokensOf = async (user: string) => (await fixture.store.listUserTokens(user, { limit: 50 })).items
  const secretIn = async (page: Page) => (await page.locator('.secret').textContent()) ?? ''
  const statusWith = async (token: string, path = '/v1/models') =>
    (await fetch(`${fixture.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status

  test('creates a token with scopes, models, an end and limits, and sees its secret once', async () => {
    await using visiting = await openNewUser('programmer')
    const { page, user } = visiting
    await page.getByText('A program that calls the API for this user needs one.').waitFor()
    await press(page, 'New token')
    const form = dialog(page)
    await form.getByLabel('Label').fill('ci')
    for (const scope of ['media', 'text', 'video']) await form.getByRole('checkbox', { name: scope }).uncheck()
    await form.getByRole('button', { name: 'New token' }).click()
    await form.getByText('Choose at least one.').waitFor()
    await form.getByRole('checkbox', { name: 'text' }).check()
    await form.getByLabel('Models').fill('emulated-*\nother')
    await form.getByLabel('Valid').selectOption('30')
    await form.getByRole('radio', { name: 'These limits' }).check()
    await form.getByLabel('What is limited').selectOption('requests')
    await form.getByLabel('At most').fill('1,5')
    await form.getByRole('button', { name: 'New token' }).click()
    await form.getByText('A whole number from 0').waitFor()
    expect(await page.evaluate<string>('document.activeElement.name')).toBe('limits[0].amount')
    await form.getByLabel('At most').fill('120')
    await form.getByLabel('In each').selectOption('minute')
    await form.getByText('120 requests a minute.').waitFor()
    await form.getByRole('button', { name: 'New token' }).click()
    await page.getByText('It is shown only once').waitFor()
    const secret = await secretIn(page)
    const [token, ...others] = await tokensOf(user.id)
    expect(others).toEqual([])
    expect(token).toMatchObject({ label: 'ci', scopes: ['text'], models: ['emulated-*', 'other'] })
    expect(JSON.parse(token?.limits ?? '')).toEqual([{ unit: 'requests', amount: 120, window: 'minute' }])
    expect(Math.abs((token?.expiresAt ?? 0) - Date.now() - 30 * 86_400_000)).toBeLessThan(600_000)
    expect(await statusWith(secret)).toBe(200)
    expect(await statusWith(secret, '/api/media/proxy/assets/groups')).toBe(403)
    await press(page, 'Done')
    await page.getByText('ci', { exact: true }).waitFor()
    expect(await page.content()).not.toContain(secret)
    expect((await fixture.store.adminToken(token?.id ?? ''))?.start).toBe(secret.slice(0, 9))
  })

  test('changes a token, rotates its secret with an overlap, and revokes it after typing its label', async () => {
    await using visiting = await openNewUser('keeper')
    const { page, user } = visiting
    const old = `sk-${'k'.repeat(43)}`
    await fixture.store.addUserToken(user.id, {
      ...{ hash: hashToken(old), start: old.slice(0, 9), label: 'laptop', scopes: ['text'] },
      ...{ models: ['m'], createdAt: Date.now(), expiresAt: Date.now() + 86_400_000 },
    })
    await page.reload()
    await press(page, 'Edit the token laptop')
    const form = dialog(page)
    await form.getByLabel('Label').fill('desktop')
    await form.getByRole('checkbox', { name: 'read' }).check()
    await form.getByLabel('Models').fill('')
    await form.getByLabel('Valid').selectOption('never')
    await submit(page, 'Save')
    await page.getByText('desktop', { exact: true }).waitFor()
    const [changed] = await tokensOf(user.id)
    expect(changed).toMatchObject({ label: 'desktop', scopes: ['text', 'read'] })
    expect([changed?.models, changed?.expiresAt, changed?.limits]).toEqual([undefined, undefined, undefined])

    await press(page, 'Rotate the token desktop')
    await form.getByLabel('The old secret works for').selectOption({ label: '1 hour' })
    await form.getByRole('button', { name: 'Rotate' }).click()
    await page.getByText('The new secret').waitFor()
    const renewed = await secretIn(page)
    await press(page, 'Done')
    expect([await statusWith(old), await statusWith(renewed)]).toEqual([200, 200])
    const [rotated] = await tokensOf(user.id)
    expect(rotated?.id).toBe(changed?.id)
    expect(Math.abs((rotated?.oldUntil ?? 0) - Date.now() - 3_600_000)).toBeLessThan(600_000)

    await press(page, 'Revoke the token desktop')
    await form.getByLabel('Confirmation').fill('laptop')
    await form.getByRole('button', { name: 'Revoke' }).click()
    await form.getByText('This is not what has to be typed.').waitFor()
    await form.getByLabel('Confirmation').fill('desktop')
    await submit(page, 'Revoke')
    await page.getByText('Revoked', { exact: true }).waitFor()
    for (const secret of [old, renewed]) while ((await statusWith(secret)) !== 401) await Bun.sleep(20)
    expect((await tokensOf(user.id))[0]?.revokedAt).toBeNumber()
  })

  test('finds tokens of all users by label, beginning, user, state and last use, and rotates and revokes one', async () => {
    const [one, two] = await addUsers(fixture, 2, (number) => ({ name: `holder-${number}` }))
    if (!one || !two) throw new Error()
    const day = 86_400_000
    const add = async (user: string, label: string, letter: string, createdAt: number) => {
      const secret = `sk-${letter.repeat(43)}`
      const start = secret.slice(0, 9)
      const token = await store.addUserToken(user, {
        ...{ hash: hashToken(secret), start, label, scopes: ['text'], createdAt },
      })
      if (typeof token === 'string') throw new Error(token)
      return { ...token, secret }
    }
    const { store } = fixture
    const ci = await add(one.id, 'Alpha CI', 'a', Date.now() - 50 * day)
    const laptop = await add(two.id, 'Alpha laptop', 'b', Date.now())
    const gone = await add(two.id, 'Alpha gone', 'c', Date.now())
    await store.revokeUserToken(gone.id, Date.now())
    store.noteUse({ user: one.id, token: ci.id, at: Date.now() - 40 * day })
    store.noteUse({ user: two.id, token: laptop.id, at: Date.now() })
    await store.flushUses()

    await using visiting = await visitAdmin(browser, fixture, 'tokens?search=alpha')
    const { page } = visiting
    const labels = `[...document.querySelectorAll('.rows .name')].map((one) => one.firstChild.textContent.trim())`
    const expectLabels = async (...expected: readonly string[]) => {
      while (!Bun.deepEquals(await page.evaluate<string[]>(labels), expected)) await Bun.sleep(20)
    }
    await expectLabels('Alpha CI', 'Alpha laptop', 'Alpha gone')
    await page.getByLabel('State').selectOption('Revoked')
    await expectLabels('Alpha gone')
    await page.getByLabel('State').selectOption('')
    await page.getByLabel('Last use').selectOption('unused-30')
    await expectLabels('Alpha CI', 'Alpha gone')
    await page.getByLabel('Last use').selectOption('used-7')
    await expectLabels('Alpha laptop')
    await page.getByLabel('Last use').selectOption('')
    await page.getByLabel('User', { exact: true }).fill('holder-0')
    await expectLabels('Alpha CI')
    await page.getByLabel('User', { exact: true }).fill('')
    await expectLabels('Alpha CI', 'Alpha laptop', 'Alpha gone')

    // A whole token that somebody has found: no more of it than its beginning leaves the page.
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByLabel('Label, or beginning of the token').fill(laptop.secret)
    await expectLabels('Alpha laptop')
    expect([...asked, page.url()].filter((url) => url.includes(laptop.secret.slice(0, 10)))).toEqual([])
    await press(page, 'Rotate the token Alpha laptop')
    await dialog(page).getByRole('button', { name: 'Rotate' }).click()
    await page.getByText('The new secret').waitFor()
    const renewed = await secretIn(page)
    await press(page, 'Done')
    while ((await statusWith(laptop.secret)) !== 401) await Bun.sleep(20)
    expect(await statusWith(renewed)).toBe(200)
    await page.getByLabel('Label, or beginning of the token').fill('alpha laptop')
    await expectLabels('Alpha laptop')
    await press(page, 'Edit the token Alpha laptop')
    await dialog(page).getByRole('radio', { name: 'These limits' }).check()
    await dialog(page).getByLabel('At most').fill('700')
    await dialog(page).getByRole('checkbox', { name: 'provision' }).check()
    await dialog(page).getByText('This user is no admin').waitFor()
    await dialog(page).getByRole('checkbox', { name: 'provision' }).uncheck()
    await submit(page, 'Save')
    await page.getByText('700 tokens a day').waitFor()
    await press(page, 'Revoke the token Alpha laptop')
    await dialog(page).getByLabel('Confirmation').fill('Alpha laptop')
    await submit(page, 'Revoke')
    await page.locator('.rows').getByText('Revoked', { exact: true }).waitFor()
    while ((await statusWith(renewed)) !== 401) await Bun.sleep(20)
    await page.getByRole('link', { name: 'holder-1' }).click()
    await page.getByRole('heading', { level: 1, name: 'holder-1' }).waitFor()
  })

  test('sees what is left of the limits of an own token', async () => {
    const secret = `sk-${'o'.repeat(43)}`
    await fixture.store.addUserToken(fixture.admin.id, {
      ...{ hash: hashToken(secret), start: secret.slice(0, 9), label: 'own', scopes: ['text'], createdAt: Date.now() },
      limits: JSON.stringify([{ unit: 'requests', amount: 40, window: 'day' }]),
    })
    const asked = await fetch(`${fixture.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect([asked.status, await asked.text()]).toEqual([200, expect.any(String)])
    await using visiting = await visitAdmin(browser, fixture, 'overview')
    const { page } = visiting
    await page.goto(`${fixture.url}/console#/tokens`)
    const limits = page.getByRole('list', { name: 'Limits of own' })
    await limits.getByText('39 of 40 left').waitFor()
    expect(await limits.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Requests a day\s+One token\s+39 of 40 left\s+Returns \d/i),
    ])
    expect(visiting.errors).toEqual([])
  })

  test('sets limits of a user with a form that explains them, and takes them away again', async () => {
    await using visiting = await openNewUser('limited')
    const { page, user } = visiting
    await page.getByText('5,000 tokens a day').waitFor()
    await press(page, 'Change the limits')
    const form = dialog(page)
    await form.getByText('At present these are:').waitFor()
    await form.getByRole('radio', { name: 'These limits' }).check()
    await form.getByText('A day begins at midnight in Asia/Shanghai').waitFor()
    await form.getByLabel('At most').fill('700')
    await press(page, 'Add a limit')
    const second = form.getByRole('group', { name: 'Limit 2' })
    await second.getByLabel('At most').fill('900')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Limit 1 is about the same already.').waitFor()
    await second.getByLabel('What is limited').selectOption('cost')
    await second.getByLabel('At most').fill('12.50')
    await second.getByLabel('In each').selectOption('month')
    await second.getByLabel('Only of the model').fill('gpt*x')
    await form.getByRole('button', { name: 'Save' }).click()
    await second.getByText('A * may stand at its end only.').waitFor()
    await second.getByLabel('Only of the model').fill('gpt-*')
    await press(page, 'Add a limit')
    const third = form.getByRole('group', { name: 'Limit 3' })
    await third.getByLabel('What is limited').selectOption('storage_bytes')
    expect(await third.getByLabel('In each').count()).toBe(0)
    for (const amount of ['1.5 GB', '-1', '0.0000001', '9007199254.740992']) {
      await third.getByLabel('At most').fill(amount)
      await form.getByRole('button', { name: 'Save' }).click()
      await third.getByText('A number of MB from 0, with at most six decimals').waitFor()
    }
    await third.getByLabel('At most').fill('1500.000001')
    await third.getByText('1,500.000001 MB (1,500,000,001 bytes) of storage.').waitFor()
    await submit(page, 'Save')
    await page.getByText('A cost of 12.50 a month of gpt-*').waitFor()
    const limits = async () => (await fixture.store.adminUser(user.id))?.limits
    expect(JSON.parse((await limits()) ?? '')).toEqual([
      { unit: 'tokens', amount: 700, window: 'day' },
      { unit: 'cost', amount: 12.5, window: 'month', model: 'gpt-*' },
      { unit: 'storage_bytes', amount: 1_500_000_001 },
    ])
    await page.getByText('1,500.000001 MB of storage').first().waitFor()
    await press(page, 'Change the limits')
    expect(await third.getByLabel('At most').inputValue()).toBe('1500.000001')
    await press(page, 'Cancel')

    await press(page, 'Change the limits')
    await press(page, 'Remove limit 2')
    await press(page, 'Remove limit 2')
    await submit(page, 'Save')
    expect(JSON.parse((await limits()) ?? '')).toEqual([{ unit: 'tokens', amount: 700, window: 'day' }])
    await press(page, 'Change the limits')
    await form.getByRole('radio', { name: 'No limits' }).check()
    await submit(page, 'Save')
    await page.getByText('No limits apply to this user.').waitFor()
    expect(await limits()).toBe('[]')
    await press(page, 'Change the limits')
    await form.getByRole('radio', { name: 'Those of every user' }).check()
    await submit(page, 'Save')
    await page.getByText('5,000 tokens a day').waitFor()
    expect(await limits()).toBeUndefined()
  })

  test('creates a team with limits, renames it, sees its members, and deletes it when it is empty', async () => {
    await using visiting = await visitAdmin(browser, fixture, 'teams')
    const { page } = visiting
    const form = dialog(page)
    await page.getByText('No teams yet').waitFor()
    await press(page, 'New team')
    await form.getByRole('button', { name: 'New team' }).click()
    await form.getByText('A name has 1 to 128 characters').waitFor()
    await form.getByLabel('Name').fill('Film')
    await form.getByRole('radio', { name: 'These limits' }).check()
    await form.getByLabel('What is limited').selectOption('videos')
    await form.getByLabel('At most').fill('40')
    await submit(page, 'New team')
    await page.getByText('40 videos a day').waitFor()
    const team = await fixture.store.teamByName('film')
    expect(JSON.parse(team?.limits ?? '')).toEqual([{ unit: 'videos', amount: 40, window: 'day' }])

    await addUsers(fixture, 1, () => ({ name: 'member', team: team?.id ?? '' }))
    await press(page, 'Edit Film')
    await form.getByLabel('Name').fill('Pictures')
    await form.getByRole('radio', { name: 'No limits' }).check()
    await submit(page, 'Save')
    await page.getByText('No shared limits').waitFor()
    expect(await fixture.store.team(team?.id ?? '')).toMatchObject({ name: 'Pictures', members: 1 })

    await press(page, 'Delete Pictures')
    await form.getByText('The team has 1 member.').waitFor()
    await form.getByLabel('Confirmation').fill('Pictures')
    await form.getByRole('button', { name: 'Delete' }).click()
    await form.getByText('The team still has members.').waitFor()
    await press(page, 'Cancel')
    await page.getByRole('link', { name: '1 member Pictures' }).click()
    await page.getByRole('link', { name: 'member' }).click()
    await press(page, 'Edit')
    await form.getByLabel('Team').selectOption({ label: 'No team' })
    await submit(page, 'Save')
    await page.getByRole('link', { name: 'Teams' }).click()
    await press(page, 'Delete Pictures')
    await form.getByLabel('Confirmation').fill('Pictures')
    await submit(page, 'Delete')
    await page.getByText('No teams yet').waitFor()
    expect(await fixture.store.team(team?.id ?? '')).toBeUndefined()
  })
})
