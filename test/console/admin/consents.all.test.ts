/** Runs with `--all`: in a browser, an operator finds the consents of persons, ends them, and exports them. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { type SigningKeyView, verifyDocument } from '../../../plugins/shared/index.ts'
import { describeWithBrowser, openBrowser } from '../browser.ts'
import { addFace, openFaceFixture } from '../face-fixture.ts'
import { submit, visitAdmin } from './fixture.ts'

setDefaultTimeout(300_000)

/** The text of the file that a button downloads. */
const downloaded = async (page: Page, button: string): Promise<string> => {
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  return readFile(await (await downloading).path(), 'utf8')
}

describeWithBrowser('an operator', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('lists the consents of persons, finds one by its group, and withdraws it when its id was typed', async () => {
    await using fixture = await openFaceFixture()
    const [maria, nora] = [await addFace(fixture, 'Maria'), await addFace(fixture, 'Nora')]
    await using visiting = await visitAdmin(browser, fixture, 'consents')
    const { page } = visiting
    const rows = page.locator('.rows').first().locator('li')
    await rows.filter({ hasText: nora }).getByText('Valid').waitFor()
    expect(await rows.count()).toBe(2)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('Please fill this in.').waitFor()
    await page.getByLabel('ID of the group').fill(maria)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: maria }).waitFor()
    await page.locator('.facts').getByRole('link', { name: 'ann' }).first().waitFor()
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('dialog').getByLabel('Confirmation').fill(nora)
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
    await page.getByText('This is not what has to be typed.').waitFor()
    expect(await fixture.store.hasWithdrawn(maria)).toBe(false)
    await page.getByRole('dialog').getByLabel('Confirmation').fill(maria)
    await submit(page, 'Withdraw')
    await page.locator('.facts').getByText('by an admin').waitFor()
    expect([await fixture.store.hasWithdrawn(maria), await fixture.store.hasWithdrawn(nora)]).toEqual([true, false])
    await page.getByRole('link', { name: 'All consents' }).click()
    await rows.filter({ hasText: nora }).waitFor()
    await page.getByLabel('Show').selectOption('Withdrawn ones')
    await rows.filter({ hasText: nora }).waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(1)
    await page.goto(`${fixture.url}/console#/admin/consents/group-20260101000000-abcde`)
    await page.getByRole('heading', { level: 1, name: 'There is no consent of this group' }).waitFor()
    expect(visiting.errors.filter((error) => !error.includes('status of 404'))).toEqual([])
  })

  test('exports a consent, verifies it with the published keys, and has everything deleted', async () => {
    await using fixture = await openFaceFixture()
    const group = await addFace(fixture, 'Maria')
    await using visiting = await visitAdmin(browser, fixture, 'consents')
    const { page } = visiting
    const { keys }: { keys: readonly SigningKeyView[] } = JSON.parse(await downloaded(page, 'Download the keys'))
    await page.getByRole('link', { name: group }).click()
    const text = await downloaded(page, 'Download the record')
    expect(verifyDocument(text, keys)).toBe(true)
    expect(JSON.parse(text).Uses).toHaveLength(2)
    await page.getByRole('button', { name: 'Delete everything' }).click()
    await page.getByRole('dialog').getByLabel('Confirmation').fill(group)
    await submit(page, 'Delete everything')
    await page.locator('.lead').getByText('Deleted', { exact: true }).waitFor()
    expect(fixture.emulator.library.assets()).toEqual([])
    expect(await page.getByRole('button', { name: /^(Withdraw|Delete everything)$/ }).count()).toBe(0)
    expect(visiting.errors).toEqual([])
  })
})
