/** Runs with `--all`: in a browser, the owner of a group of a person, and the person, end the consent. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { type SigningKeyView, verifyDocument } from '../../plugins/shared/index.ts'
import { submit } from './admin/fixture.ts'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { addFace, openFaceFixture } from './face-fixture.ts'

setDefaultTimeout(300_000)

const openConsent = async (page: Page, name: string) => {
  await page.getByRole('link', { name: 'Verified faces' }).click()
  await page.getByRole('link', { name }).click()
  await page.getByRole('link', { name: 'Consent' }).click()
  await page.getByRole('heading', { level: 1, name: `Consent: ${name}` }).waitFor()
}

describeWithBrowser('the consent of a person', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('says who was verified, when, and where the face is used; its signed record is what the server has signed', async () => {
    await using fixture = await openFaceFixture()
    const group = await addFace(fixture, 'Maria')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await openConsent(page, 'Maria')
    await page.getByText('The group can be used.').waitFor()
    const facts = page.locator('.facts')
    expect(await facts.locator('dt').allTextContents()).toEqual(['Verified', 'Invited', 'Invited by', 'Last used'])
    expect(await facts.locator('dd').nth(2).textContent()).toBe('You')
    const rows = page.locator('.rows > li')
    await rows.filter({ hasText: 'task-of-a-borrower' }).getByText('by user somebody').waitFor()
    expect(await rows.count()).toBe(2)
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the record' }).click()
    const file = await downloading
    expect(file.suggestedFilename()).toBe(`consent-${group}.json`)
    const text = await readFile(await file.path(), 'utf8')
    const address = await page.getByRole('link', { name: 'public keys' }).getAttribute('href')
    const { keys } = (await (await fetch(`${fixture.url}${address}`)).json()) as { keys: readonly SigningKeyView[] }
    expect(verifyDocument(text, keys)).toBe(true)
    expect(JSON.parse(text).Uses).toHaveLength(2)
    expect(visiting.errors).toEqual([])
  })

  test('is withdrawn by the owner, for good', async () => {
    await using fixture = await openFaceFixture()
    const group = await addFace(fixture, 'Maria')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await openConsent(page, 'Maria')
    await page.getByRole('button', { name: 'Withdraw the consent' }).click()
    await page.getByText('This cannot be undone').waitFor()
    await submit(page, 'Cancel')
    expect(await fixture.store.hasWithdrawn(group)).toBe(false)
    await page.getByRole('button', { name: 'Withdraw the consent' }).click()
    await submit(page, 'Withdraw the consent')
    await page.locator('.facts').getByText('by you').waitFor()
    expect(await fixture.store.hasWithdrawn(group)).toBe(true)
    expect(await page.getByRole('button', { name: 'Withdraw the consent' }).count()).toBe(0)
    expect(visiting.errors).toEqual([])
  })

  test('is deleted with everything when the owner types the name, and the record remains', async () => {
    await using fixture = await openFaceFixture()
    const group = await addFace(fixture, 'Maria')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await openConsent(page, 'Maria')
    await page.getByRole('button', { name: 'Delete everything' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type the name of the group: Maria').fill('another')
    await dialog.getByRole('button', { name: 'Delete everything' }).click()
    await dialog.getByRole('alert').getByText('That is not the name of the group.').waitFor()
    expect(await fixture.store.hasWithdrawn(group)).toBe(false)
    await dialog.getByLabel('Type the name of the group: Maria').fill('Maria')
    await submit(page, 'Delete everything')
    // The page follows the deletion, which goes on in the background.
    await page.getByText('The videos and the assets are gone.').waitFor()
    await page.locator('.facts').getByText('Assets: 1.').waitFor()
    expect(fixture.emulator.library.assets()).toEqual([])
    expect(await page.getByRole('button', { name: 'Delete everything' }).count()).toBe(0)
    await page.reload()
    await page.getByText('The videos and the assets are gone.').waitFor()
    expect(visiting.errors.filter((error) => !error.includes('status of 403'))).toEqual([])
  })

  test('has a link for the person, shown once, with which the person withdraws it', async () => {
    await using fixture = await openFaceFixture()
    await addFace(fixture, 'Maria')
    await using visiting = await visit(browser, fixture)
    const { page, context } = visiting
    await login(page)
    await openConsent(page, 'Maria')
    await page.getByRole('button', { name: 'Link for the person' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Make the link' }).click()
    await page.getByRole('img', { name: 'QR code of the link for the person' }).waitFor()
    const link = (await page.locator('.secret').textContent()) ?? ''
    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.locator('body').textContent()).not.toContain(link)
    const person = await context.newPage()
    await person.goto(link)
    await person
      .getByRole('button', { name: /Withdraw/ })
      .first()
      .click()
    await person.getByRole('heading', { name: 'Consent withdrawn' }).waitFor()
    await page.reload()
    await page.locator('.facts').getByText('by the person, with a link that you have made').waitFor()
    expect(visiting.errors).toEqual([])
  })

  test('of somebody else, or of an ordinary group, is not there', async () => {
    await using fixture = await openFaceFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const { id } = fixture.emulator.library.addGroup({ name: 'cats' })
    await fixture.store.adoptGroup({ id, user: fixture.admin.id, type: 'AIGC', name: 'cats', createdAt: Date.now() })
    await login(page)
    await page.getByRole('link', { name: 'cats' }).click()
    await page.getByRole('link', { name: 'Lend' }).waitFor()
    expect(await page.getByRole('link', { name: 'Consent' }).count()).toBe(0)
    for (const group of [id, 'group-20260101000000-abcde']) {
      await page.goto(`${fixture.url}/console#/consents/${group}`)
      await page.getByRole('heading', { level: 1, name: 'There is no consent here' }).waitFor()
      await page.getByRole('link', { name: 'To the groups' }).waitFor()
    }
  })
})
