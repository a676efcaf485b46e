/** Runs with `--all`: an admin manages users in a browser, on a server of its own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from '../browser.ts'
import { name } from '../fixture.ts'
import { type AdminFixture, addUsers, openAdminFixture, submit, visitAdmin } from './fixture.ts'

setDefaultTimeout(300_000)

describeWithBrowser('an admin', () => {
  let browser: Browser
  let fixture: AdminFixture
  beforeAll(async () => {
    browser = await openBrowser()
    fixture = await openAdminFixture()
  })
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]()
    await browser?.close()
  })

  const userNamed = async (name: string) => {
    const user = await fixture.store.adminUserByName(name)
    if (!user) throw new Error(`there is no ${name}`)
    return user
  }
  const openUser = async (name: string) => {
    const user = await userNamed(name)
    const visiting = await visitAdmin(browser, fixture, `users/${user.id}`)
    await visiting.page.getByRole('heading', { level: 1, name }).waitFor()
    return { user, ...visiting, [Symbol.asyncDispose]: () => visiting[Symbol.asyncDispose]() }
  }
  const dialog = (page: Page) => page.getByRole('dialog')
  const press = (page: Page, button: string) => page.getByRole('button', { name: button, exact: true }).click()

  test('finds users by a part of the name, role, team and state, page by page, and the address keeps the filters', async () => {
    const team = await fixture.store.addTeam({ name: 'Search', createdAt: Date.now() })
    if (typeof team === 'string') throw new Error(team)
    const [first] = await addUsers(fixture, 60, (number) => ({
      name: `searched-${String(number).padStart(2, '0')}`,
      ...(number < 3 && { team: team.id }),
    }))
    await fixture.store.changeUser(first?.id ?? '', { disabled: true }, { now: Date.now() })
    await using visiting = await visitAdmin(browser, fixture, 'users')
    const { page } = visiting
    const rows = page.locator('tbody tr')
    const untilRows = async (count: number) => {
      await rows.nth(count - 1).waitFor()
      await rows.nth(count).waitFor({ state: 'detached' })
    }
    // Before the first list has come, ann is not there either.
    await page.getByRole('link', { name, exact: true }).waitFor()
    await page.getByLabel('Part of the name').fill('EARCHED-')
    await page.getByRole('link', { name, exact: true }).waitFor({ state: 'detached' })
    await untilRows(50)
    const names = async () => page.locator('tbody th').allTextContents()
    const firstPage = await names()
    await press(page, 'Next')
    await page.getByText('Page 2').waitFor()
    await untilRows(10)
    const both = [...firstPage, ...(await names())]
    expect(new Set(both).size).toBe(60)
    expect(both.every((one) => one.startsWith('searched-'))).toBe(true)
    await press(page, 'Previous')
    await untilRows(50)

    await page.getByLabel('Team').selectOption({ label: 'Search' })
    await untilRows(3)
    await page.getByLabel('State').selectOption({ label: 'Disabled' })
    await untilRows(1)
    expect(await names()).toEqual(['searched-00'])
    await page.reload()
    await page.getByRole('link', { name: 'searched-00' }).waitFor()
    await untilRows(1)
    expect(await page.getByLabel('Part of the name').inputValue()).toBe('EARCHED-')
    await page.getByLabel('Role').selectOption({ label: 'Admin' })
    await page.getByText('Nothing matches the filters').waitFor()
    await press(page, 'Clear the filters')
    await page.getByRole('link', { name, exact: true }).waitFor()
    expect(visiting.errors).toEqual([])
  })

  test('keeps what is typed while the screen appears, and two presses in one frame go to one page', async () => {
    await addUsers(fixture, 60, (number) => ({ name: `quick-${String(number).padStart(2, '0')}` }))
    await using visiting = await visitAdmin(browser, fixture, 'overview')
    const { page } = visiting
    await page.evaluate(`new MutationObserver((_, observer) => {
      const field = document.querySelector('main input[type=search]')
      if (!field) return
      observer.disconnect()
      field.value = 'QUICK-'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }).observe(document.body, { childList: true, subtree: true })`)
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    const rows = page.locator('tbody tr')
    await rows.filter({ hasText: 'quick-' }).nth(49).waitFor()
    // The second press comes after the page has been rendered anew, and before it has begun to load.
    await page.evaluate(`(async () => {
      const next = document.querySelector('main nav.pages button:last-child')
      next.click()
      while (!document.querySelector('main nav.pages').textContent.includes('2')) await undefined
      next.click()
    })()`)
    await page.getByText('Page 2').waitFor()
    await rows.nth(10).waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(10)
    expect(visiting.errors).toEqual([])
  })

  test('creates a user with an invitation, who sets a password by the link that is shown once', async () => {
    await using visiting = await visitAdmin(browser, fixture, 'users')
    const { page } = visiting
    await press(page, 'New user')
    // The place of a fault is its field.
    await dialog(page).getByRole('button', { name: 'New user' }).click()
    await page.getByText('A name has 1 to 128 characters').waitFor()
    expect(await page.evaluate<string>('document.activeElement.name')).toBe('name')
    await dialog(page).getByLabel('Name').fill('Ann')
    await dialog(page).getByRole('button', { name: 'New user' }).click()
    await page.getByText('Another user has this name already').waitFor()
    await dialog(page).getByLabel('Name').fill('invited')
    await dialog(page).getByLabel('External ID').fill('hr-17')
    await dialog(page).getByRole('button', { name: 'New user' }).click()
    const link = (await page.locator('.secret').textContent()) ?? ''
    expect(link).toStartWith(`${fixture.url}/console#/invitation/`)
    await press(page, 'Done')
    await page.getByRole('heading', { level: 1, name: 'invited' }).waitFor()
    expect(await page.content()).not.toContain(link)
    expect(await userNamed('invited')).toMatchObject({
      role: 'user',
      service: false,
      externalId: 'hr-17',
      login: 'none',
    })

    const context = await browser.newContext({ locale: 'en-GB' })
    const guest = await context.newPage()
    await guest.goto(link)
    await guest.getByLabel('New password').fill('Another-password-1')
    await guest.getByRole('button', { name: 'Set the password' }).click()
    await guest.getByRole('heading', { level: 1, name: 'Asset groups' }).waitFor()
    await context.close()
    expect((await userNamed('invited')).login).toBe('password')
  })

  test('creates an admin with a password, and a service user', async () => {
    await using visiting = await visitAdmin(browser, fixture, 'users')
    const { page } = visiting
    await press(page, 'New user')
    await dialog(page).getByLabel('Name').fill('second')
    await dialog(page).getByLabel('First login').selectOption('password')
    await dialog(page).getByLabel('Password', { exact: true }).fill('short')
    await dialog(page).getByLabel('Role').selectOption('admin')
    await dialog(page).getByRole('button', { name: 'New user' }).click()
    await page.getByText('This password is too weak').waitFor()
    await dialog(page).getByLabel('Password', { exact: true }).fill('a password that is long enough')
    await submit(page, 'New user')
    await page.getByRole('heading', { level: 1, name: 'second' }).waitFor()
    expect(await userNamed('second')).toMatchObject({ role: 'admin', login: 'password' })

    await page.getByRole('link', { name: 'All users' }).click()
    await press(page, 'New user')
    await dialog(page).getByLabel('Name').fill('robot')
    await dialog(page).getByLabel('Kind of user').selectOption('service')
    expect(await dialog(page).getByLabel('First login').count()).toBe(0)
    await submit(page, 'New user')
    await page.getByRole('heading', { level: 1, name: 'robot' }).waitFor()
    expect(await userNamed('robot')).toMatchObject({ service: true, login: 'none' })
    expect(await page.getByRole('button', { name: 'Set password' }).count()).toBe(0)
  })

  test('imports the users of a CSV file, all or none, and sees which lines are wrong', async () => {
    const team = await fixture.store.addTeam({ name: 'Importers', createdAt: Date.now() })
    if (typeof team === 'string') throw new Error(team)
    await using visiting = await visitAdmin(browser, fixture, 'users')
    const { page } = visiting
    const choose = (text: string) =>
      dialog(page)
        .getByLabel('CSV file')
        .setInputFiles({ name: 'people.txt', mimeType: 'text/plain', buffer: Buffer.from(text) })
    await press(page, 'Import')
    await dialog(page).getByRole('button', { name: 'Import' }).click()
    await page.getByText('Choose a file.').waitFor()
    await choose('surname\nann\n')
    await dialog(page).getByRole('button', { name: 'Import' }).click()
    await page.getByText('This is no such table.').waitFor()
    await choose(`name,role,team\nimported-1,root,\nimported-2,user,Nowhere\nimported-3,,\n`)
    await dialog(page).getByRole('button', { name: 'Import' }).click()
    await page.getByText(/^Line 2: A role is user or admin\./).waitFor()
    await page.getByText(/^Line 3: This team does not exist/).waitFor()
    expect(await fixture.store.adminUserByName('imported-3')).toBeUndefined()
    await choose(`name,role,team,external_id\nimported-1,admin,,\nimported-2,,importers,hr-99\n`)
    await submit(page, 'Import')
    await page.getByText('2 users imported').waitFor()
    expect(await userNamed('imported-1')).toMatchObject({ role: 'admin' })
    expect(await userNamed('imported-2')).toMatchObject({ role: 'user', team: team.id, externalId: 'hr-99' })
    const entries = await fixture.store.listAudit({ action: 'user.create' })
    expect(entries.filter(({ user }) => user === fixture.admin.id).length).toBeGreaterThanOrEqual(2)
  })

  test('changes the name, role, team and external ID of a user', async () => {
    const team = await fixture.store.addTeam({ name: 'Painters', createdAt: Date.now() })
    if (typeof team === 'string') throw new Error(team)
    await addUsers(fixture, 1, () => ({ name: 'renamed' }))
    await using visiting = await openUser('renamed')
    const { page } = visiting
    await press(page, 'Edit')
    await dialog(page).getByLabel('Name').fill('painter')
    await dialog(page).getByLabel('Role').selectOption('admin')
    await dialog(page).getByLabel('Team').selectOption({ label: 'Painters' })
    await dialog(page).getByLabel('External ID').fill('p-1')
    await submit(page, 'Save')
    await page.getByRole('heading', { level: 1, name: 'painter' }).waitFor()
    expect(await userNamed('painter')).toMatchObject({ role: 'admin', team: team.id, externalId: 'p-1' })
    await press(page, 'Edit')
    await dialog(page).getByLabel('Role').selectOption('user')
    await dialog(page).getByLabel('Team').selectOption({ label: 'No team' })
    await dialog(page).getByLabel('External ID').fill('')
    await submit(page, 'Save')
    await page.getByText('No team').waitFor()
    const { team: none, externalId, role } = await userNamed('painter')
    expect([none, externalId, role]).toEqual([undefined, undefined, 'user'])
  })

  test('keeps a choice that was made before the teams have arrived', async () => {
    const team = await fixture.store.addTeam({ name: 'Late', createdAt: Date.now() })
    if (typeof team === 'string') throw new Error(team)
    await addUsers(fixture, 1, () => ({ name: 'hasty', team: team.id }))
    await using visiting = await openUser('hasty')
    const { page, user } = visiting
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/api/admin/teams*', async (route) => {
      await promise
      await route.continue()
    })
    await press(page, 'Edit')
    await dialog(page).getByLabel('Team').selectOption({ label: 'No team' })
    resolve()
    await dialog(page).getByRole('option', { name: 'Late' }).waitFor({ state: 'attached' })
    await page.waitForLoadState('networkidle')
    await submit(page, 'Save')
    expect((await fixture.store.adminUser(user.id))?.team).toBeUndefined()
  })

  test('disables a user after typing the name, and enables the user again', async () => {
    await addUsers(fixture, 1, () => ({ name: 'leaver' }))
    await using visiting = await openUser('leaver')
    const { page } = visiting
    await press(page, 'Disable')
    await dialog(page).getByRole('button', { name: 'Disable' }).click()
    await page.getByText('This is not what has to be typed.').waitFor()
    expect((await userNamed('leaver')).disabledAt).toBeUndefined()
    await dialog(page).getByLabel('Confirmation').fill('leaver')
    await submit(page, 'Disable')
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor()
    expect((await userNamed('leaver')).disabledAt).toBeNumber()
    await press(page, 'Enable')
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor()
    expect((await userNamed('leaver')).disabledAt).toBeUndefined()
  })

  test('sets a password, logs the user out everywhere, and makes a new invitation', async () => {
    await addUsers(fixture, 1, () => ({ name: 'forgetful' }))
    await using visiting = await openUser('forgetful')
    const { page, user } = visiting
    await press(page, 'Set password')
    await dialog(page).getByLabel('Password', { exact: true }).fill('forgetful')
    await dialog(page).getByRole('button', { name: 'Set password' }).click()
    await page.getByText('This password is too weak').waitFor()
    await dialog(page).getByLabel('Password', { exact: true }).fill('remembered at last')
    await submit(page, 'Set password')
    await page.getByText('Password set').waitFor()

    const logIn = () =>
      fetch(`${fixture.url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: fixture.url },
        body: JSON.stringify({ name: 'forgetful', password: 'remembered at last' }),
      })
    const [cookie = ''] = (await logIn()).headers.get('set-cookie')?.split(';') ?? []
    const status = async () => (await fetch(`${fixture.url}/api/session`, { headers: { cookie } })).status
    expect(await status()).toBe(200)
    await press(page, 'Log out everywhere')
    await submit(page, 'Log out everywhere')
    while ((await status()) !== 401) await Bun.sleep(20)

    await press(page, 'Invitation link')
    await dialog(page).getByRole('button', { name: 'Make the link' }).click()
    const first = (await page.locator('.secret').textContent()) ?? ''
    const secretOf = (link: string) => link.slice(link.lastIndexOf('/') + 1)
    const invited = (link: string) => fetch(`${fixture.url}/api/invitations/${secretOf(link)}`)
    expect((await invited(first)).status).toBe(200)
    await press(page, 'Done')
    await press(page, 'Invitation link')
    await dialog(page).getByRole('button', { name: 'Make the link' }).click()
    await page.locator('.secret').waitFor()
    const second = (await page.locator('.secret').textContent()) ?? ''
    expect([(await invited(first)).status, (await invited(second)).status]).toEqual([404, 200])
    expect((await fixture.store.adminUser(user.id))?.login).toBe('password')
  })

  test('is told that the last admin cannot be disabled, and that a user does not exist', async () => {
    await using own = await openAdminFixture()
    await using visiting = await visitAdmin(browser, own, `users/${own.admin.id}`)
    const { page } = visiting
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await press(page, 'Disable')
    await dialog(page).getByLabel('Confirmation').fill(name)
    await dialog(page).getByRole('button', { name: 'Disable' }).click()
    await page.getByText('This is the last enabled admin').waitFor()
    await press(page, 'Cancel')
    // Somebody else takes the role away while the page is open.
    await addUsers(own, 1, () => ({ name: 'other-admin', role: 'admin' }))
    await page.goto(`${own.url}/console#/admin/users/nobody`)
    await page.getByRole('heading', { level: 1, name: 'There is no such user' }).waitFor()
    await page.goto(`${own.url}/console#/admin/nothing`)
    await page.getByRole('heading', { level: 1, name: 'This page does not exist' }).waitFor()
    await own.store.changeUser(own.admin.id, { role: 'user' }, { now: Date.now() })
    // The server reads the role again within a second.
    const status = () => page.evaluate<number>("fetch('/api/admin/teams').then(({ status }) => status)")
    while ((await status()) !== 403) await Bun.sleep(50)
    await page.goto(`${own.url}/console#/admin/teams`)
    await page.getByText('Only admins may open this page').waitFor()
  })
})

describeWithBrowser('a user who is no admin', () => {
  test('sees no link to the operators’ screens, and loads none of their files', async () => {
    const browser = await openBrowser()
    await using fixture = await openAdminFixture()
    await addUsers(fixture, 1, () => ({ name: 'other', role: 'admin' }))
    await fixture.store.changeUser(fixture.admin.id, { role: 'user' }, { now: Date.now() })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname))
    await login(page)
    await page.getByText('No groups yet').waitFor()
    expect(await page.getByRole('link', { name: 'Operate' }).count()).toBe(0)
    await page.goto(`${fixture.url}/console#/admin/users`)
    await page.getByText('Only admins may open this page').waitFor()
    await page.reload()
    await page.getByText('Only admins may open this page').waitFor()
    expect(loaded.filter((path) => path.includes('admin'))).toEqual([])
    await browser.close()
  })
})
