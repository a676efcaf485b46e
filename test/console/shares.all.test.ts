/** Runs with `--all`: in a browser, users lend groups of assets to each other. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { type AdminFixture, openAdminFixture, submit } from './admin/fixture.ts'
import { describeWithBrowser, openBrowser, type Visit, visit } from './browser.ts'
import { name, password } from './fixture.ts'

setDefaultTimeout(300_000)

const hash = hashPassword(password)

const openFixture = (): Promise<AdminFixture> =>
  openAdminFixture(({ ark }) => ({
    MEDIA_UPSTREAM_KIND: 'ark',
    MEDIA_UPSTREAM_URL: ark.url,
    MEDIA_UPSTREAM_ACCESS_KEY: ark.accessKey,
    MEDIA_UPSTREAM_SECRET_KEY: ark.secretKey,
    MEDIA_UPSTREAM_LIMITS: '{}',
  }))

/** A group of ann with an asset. */
const addGroup = async ({ store, emulator, admin }: AdminFixture, name: string): Promise<string> => {
  const { id } = emulator.library.addGroup({ name })
  await store.adoptGroup({ id, user: admin.id, type: 'AIGC', name, createdAt: Date.now() })
  emulator.library.addAsset({ groupId: id, name: 'beach', status: 'Active' })
  return id
}

const visitAs = async (browser: Browser, fixture: AdminFixture, user: string): Promise<Visit> => {
  const visiting = await visit(browser, fixture)
  const { page } = visiting
  await page.getByLabel('Name').fill(user)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Asset groups' }).waitFor()
  return visiting
}

/** Reloads until the page says something: a server may know of a change a second later. */
const reloadUntil = async (page: Page, text: string) => {
  for (;;) {
    await page.reload()
    await page.locator('main :is(.rows li, .empty)').first().waitFor()
    if ((await page.getByText(text).count()) > 0) return
  }
}

/** Opens the picker of a first frame, and shows what others lend. */
const openPicker = async (page: Page) => {
  await page.goto(`${new URL(page.url()).origin}/console#/videos/new`)
  await page.reload()
  await page.getByLabel('A first frame').check()
  await page.getByRole('button', { name: 'Choose: First frame' }).click()
  await page.getByRole('dialog').getByLabel('Type of group').selectOption('Lent to me')
}

describeWithBrowser('a group of assets', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('is lent to a person by ID, who sees it, uses it when that is allowed, and changes nothing, until it ends', async () => {
    await using fixture = await openFixture()
    const { store, url } = fixture
    const group = await addGroup(fixture, 'holidays')
    const bob = await store.addUser({ name: 'bob', password: await hash, createdAt: Date.now() })
    await using borrower = await visitAs(browser, fixture, 'bob')
    await borrower.page.goto(`${url}/console#/groups/shared`)
    await borrower.page.getByText('Nothing is lent to you').waitFor()
    await borrower.page.locator('.empty').getByRole('link', { name: 'Account' }).click()
    const id = (await borrower.page.locator('.own-id code').textContent()) ?? ''
    expect(id).toBe(bob ?? '')

    await using owner = await visitAs(browser, fixture, name)
    const { page } = owner
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('link', { name: 'Lend' }).click()
    await page.getByText('Lent to nobody').waitFor()
    await page.getByLabel('They may').selectOption('See it and use it in videos')
    await page.getByLabel('ID of the person').fill('0192e3a4-0000-7000-8000-000000000000')
    await page.getByRole('button', { name: 'Lend' }).click()
    await page.getByRole('alert').getByText('There is nobody with this ID').waitFor()
    // What was chosen stays when the form is shown again.
    expect(await page.getByLabel('They may').inputValue()).toBe('use')
    await page.getByLabel('They may').selectOption('See it')
    await page.getByLabel('ID of the person').fill(id)
    await page.getByRole('button', { name: 'Lend' }).click()
    const row = page.getByRole('listitem').filter({ hasText: id })
    await row.getByText('See it', { exact: true }).waitFor()
    await row.getByText('Until you end it').waitFor()

    await borrower.page.goto(`${url}/console#/groups/shared`)
    await reloadUntil(borrower.page, 'To see only')
    await borrower.page.getByRole('link', { name: 'holidays' }).click()
    await borrower.page.getByText('This group is lent to you. You can see its assets').waitFor()
    await borrower.page.getByRole('heading', { name: 'beach' }).waitFor()
    for (const button of ['Edit', 'Delete', 'Add asset', 'Upload files', /^Rename/, /^Delete/])
      expect([button, await borrower.page.getByRole('button', { name: button }).count()]).toEqual([button, 0])
    expect(await borrower.page.getByRole('link', { name: 'Lend' }).count()).toBe(0)
    await borrower.page.getByRole('link', { name: 'beach' }).click()
    await borrower.page.getByText('asset://').first().waitFor()
    expect(await borrower.page.getByRole('alert').count()).toBe(0)
    expect(await borrower.page.getByRole('button', { name: /Rename|Delete/ }).count()).toBe(0)
    await openPicker(borrower.page)
    await borrower.page.getByText('No group is lent to you for videos.').waitFor()

    await row.getByRole('button', { name: /^Change/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('They may').selectOption('See it and use it in videos')
    await dialog.getByLabel('Last day').fill('2999-12-31')
    await submit(page, 'Save')
    await row.getByText('See it and use it in videos').waitFor()
    await row.getByText('31 Dec 2999').waitFor()
    expect((await store.sharesOf({ id: group, user: fixture.admin.id }, Date.now())).length).toBe(1)
    await borrower.page.goto(`${url}/console#/groups/shared`)
    await reloadUntil(borrower.page, 'For your videos, too')
    await openPicker(borrower.page)
    await borrower.page.getByRole('radio', { name: 'beach' }).check()
    await borrower.page.getByRole('button', { name: 'Use', exact: true }).click()
    await borrower.page.locator('.inputs').getByText('beach').waitFor()
    await borrower.page.goto(`${url}/console#/groups/all?of=lent`)
    await borrower.page.getByRole('heading', { name: 'beach' }).waitFor()

    await row.getByRole('button', { name: /^End/ }).click()
    await submit(page, 'End lending')
    await page.getByText('Lent to nobody').waitFor()
    await borrower.page.goto(`${url}/console#/groups/shared`)
    await reloadUntil(borrower.page, 'Nothing is lent to you')
    // Who has the address of the screen cannot lend what belongs to somebody else.
    await borrower.page.goto(`${url}/console#/shares/${group}`)
    await borrower.page.getByRole('heading', { name: 'Only its owner can lend this group' }).first().waitFor()
    expect(owner.errors.filter((error) => !error.includes('status of 404'))).toEqual([])
  })

  test('is lent to the own team', async () => {
    await using fixture = await openFixture()
    const { store, url } = fixture
    const group = await addGroup(fixture, 'holidays')
    const team = await store.addTeam({ name: 'design', createdAt: Date.now() })
    if (typeof team === 'string') throw new Error(team)
    await store.changeUser(fixture.admin.id, { team: team.id }, { now: Date.now() })
    await store.addAdminUser({ name: 'bob', password: await hash, team: team.id, createdAt: Date.now() })
    await using owner = await visitAs(browser, fixture, name)
    await owner.page.goto(`${url}/console#/shares/${group}`)
    await owner.page.getByLabel('Lend to').selectOption('Your team design')
    await owner.page.getByRole('button', { name: 'Lend' }).click()
    await owner.page.getByRole('listitem').getByText('Team design').waitFor()
    await using borrower = await visitAs(browser, fixture, 'bob')
    await borrower.page.getByRole('link', { name: 'Lent to me' }).click()
    await borrower.page.getByRole('link', { name: 'holidays' }).waitFor()
    expect([...owner.errors, ...borrower.errors]).toEqual([])
  })
})
