/** Runs with `--all`: a browser finds, selects and deletes assets. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { openMediaFixture } from './media-fixture.ts'

setDefaultTimeout(300_000)

/** Keeps what the page puts on the clipboard, which it may not read. */
const keepCopies = (page: Page) =>
  page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text }')

describeWithBrowser('the library', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('selects assets, also a range of them, copies their references, and deletes them', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    const ids = Array.from(
      { length: 12 },
      (_, nth) => fixture.emulator.library.addAsset({ groupId: group, name: `picture ${nth}` }).id,
    )
    await using visiting = await visit(browser, fixture)
    const { page, errors } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/groups/AIGC/${group}?view=table`)
    await page.getByText('12 assets').waitFor()
    await keepCopies(page)
    const boxes = page.getByRole('checkbox')
    await boxes.nth(1).check()
    await boxes.nth(4).click({ modifiers: ['Shift'] })
    await page.getByText('4 selected').waitFor()
    await page.getByRole('button', { name: 'Copy references' }).click()
    await page.locator('.selection-bar .copy [role=status]').getByText('Copied').waitFor()
    const references = (await page.evaluate<string>('window.copied')).split('\n')
    expect(references).toHaveLength(4)
    expect(ids.map((id) => `asset://${id}`)).toEqual(expect.arrayContaining(references))
    // One of them is deleted by another client meanwhile: the others go all the same, and the message says it.
    const [gone = ''] = references.map((reference) => reference.slice('asset://'.length))
    fixture.emulator.library.deleteAsset(gone)
    await page.getByRole('region', { name: 'Selected assets' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 4 assets' }).click()
    await page.getByRole('alert').getByText('1 could not be deleted').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('1 selected').waitFor()
    expect(fixture.emulator.library.assets(group)).toHaveLength(8)
    await page.getByRole('button', { name: 'Clear selection' }).click()
    expect(await page.getByRole('region', { name: 'Selected assets' }).count()).toBe(0)
    expect(errors.filter((error) => !/status of 40[34]/.test(error))).toEqual([])
  })

  test('filters by type, status and group, and the address has the filters', async () => {
    await using fixture = await openMediaFixture({ emulator: { processingMs: Number.POSITIVE_INFINITY } })
    const [a, b] = [await fixture.addGroup('first'), await fixture.addGroup('second')]
    const add = (groupId: string, name: string, more: object = {}) =>
      fixture.emulator.library.addAsset({ groupId, name, ...more })
    add(a, 'beach')
    add(a, 'clip', { type: 'Video' })
    add(b, 'slow', { status: 'Processing' })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'All assets' }).click()
    await page.getByText('3 assets').waitFor()
    const shown = async () => (await page.locator('article h2').allTextContents()).toSorted()
    await page.getByLabel('Type', { exact: true }).selectOption('Video')
    await page.getByText('1 asset', { exact: true }).waitFor()
    expect(await shown()).toEqual(['clip'])
    await page.getByLabel('Type', { exact: true }).selectOption('Any type')
    await page.getByText('3 assets').waitFor()
    await page.getByLabel('Status').selectOption('Processing')
    await page.getByText('1 asset', { exact: true }).waitFor()
    expect(await shown()).toEqual(['slow'])
    await page.getByLabel('Status').selectOption('Any status')
    await page.getByLabel('Group', { exact: true }).selectOption('first')
    await page.getByText('2 assets').waitFor()
    expect(await shown()).toEqual(['beach', 'clip'])
    expect(page.url()).toEndWith(`#/groups/all?group=${a}`)
    await page.getByLabel('Find by name').fill('nothing')
    await page.getByText('Nothing matches the filters').waitFor()
  })

  test('has a page for an asset: its reference, where it is used, and code that works', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    const { id } = fixture.emulator.library.addAsset({ groupId: group, name: 'beach' })
    await using visiting = await visit(browser, fixture)
    const { page, errors } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/asset/${id}`)
    await page.getByRole('heading', { level: 1, name: 'beach' }).waitFor()
    await page.getByText(`asset://${id}`, { exact: true }).waitFor()
    await page.getByText('No video uses it.').waitFor()
    for (const language of ['curl', 'Python', 'JavaScript']) {
      await page.getByRole('button', { name: language }).click()
      expect(await page.locator('.code-block code').textContent()).toContain(`asset://${id}`)
    }
    await page.goto(`${fixture.url}/console#/videos/new`)
    await page.getByLabel('Model').fill('doubao-seedance-2-0-260128')
    await page.getByLabel('Prompt').fill('Waves in the evening')
    await page.getByLabel('References').check()
    await page.getByRole('button', { name: 'Add references' }).click()
    await page.getByRole('checkbox', { name: 'beach' }).check()
    await page.getByRole('button', { name: 'Use', exact: true }).click()
    await page.getByRole('button', { name: 'Make the video' }).click()
    await page.getByText('The model is making the video.').waitFor()
    await page.goto(`${fixture.url}/console#/asset/${id}`)
    await page.reload()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByText('Used by 1 video, none of them waiting.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Waves in the evening' }).click()
    await page.getByRole('heading', { level: 1, name: 'Waves in the evening' }).waitFor()
    expect(errors).toEqual([])
  })

  test('says what to do about a file that was not accepted, in the language of the reader', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    const error = {
      code: 'InputImageSensitiveContentDetected.PrivacyInformation',
      message: 'The image may show a person.',
    }
    const { id } = fixture.emulator.library.addAsset({ groupId: group, name: 'portrait', status: 'Failed', error })
    const strange = fixture.emulator.library.addAsset({
      groupId: group,
      name: 'odd',
      status: 'Failed',
      error: { code: 'NoSuchCode', message: '<b>why</b>' },
    })
    for (const [locale, words, check] of [
      ['en-GB', 'Verify the face of this person', 'Check a face'],
      ['zh-CN', '请为其完成人脸认证', '开始人脸验证'],
    ] as const) {
      await using visiting = await visit(browser, fixture, { locale })
      const { page } = visiting
      await page.locator('input').first().fill('ann')
      await page.locator('input').last().fill('a long enough password')
      await page.keyboard.press('Enter')
      await page.getByRole('navigation').first().waitFor()
      await page.goto(`${fixture.url}/console#/asset/${id}`)
      await page.locator('.verdict').getByText(words).waitFor()
      expect(await page.locator('.verdict').getByRole('link', { name: check }).count()).toBe(1)
      await page.locator('.verdict summary').click()
      await page.getByText(error.message).waitFor()
      await page.goto(`${fixture.url}/console#/asset/${strange.id}`)
      await page.locator('.verdict summary').click()
      await page.getByText('<b>why</b>').waitFor()
    }
  })

  test('says that an asset is not there', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/asset/asset-20260101000000-abcde`)
    await page.getByRole('heading', { name: 'This asset is not there' }).waitFor()
  })

  test('deletes a group only when its name was typed, and says how many assets go with it', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    for (let nth = 0; nth < 3; nth++) fixture.emulator.library.addAsset({ groupId: group })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('button', { name: 'Delete holidays' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('the 3 assets in it will be deleted').waitFor()
    await dialog.getByLabel('Type the name of the group').fill('holiday')
    await dialog.getByRole('button', { name: 'Delete group' }).click()
    await dialog.getByRole('alert').getByText('That is not the name of the group.').waitFor()
    expect(fixture.emulator.library.groups()).toHaveLength(1)
    await dialog.getByLabel('Type the name of the group').fill('holidays')
    await dialog.getByRole('button', { name: 'Delete group' }).click()
    await page.getByText('No groups yet').waitFor()
    expect(fixture.emulator.library.groups()).toEqual([])
  })

  test('has a picker with a search, whose buttons stay in view', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('many')
    for (let nth = 0; nth < 200; nth++) fixture.emulator.library.addAsset({ groupId: group, name: `picture ${nth}` })
    fixture.emulator.library.addAsset({ groupId: group, name: 'the Needle', type: 'Video' })
    await using visiting = await visit(browser, fixture, { viewport: { width: 800, height: 500 } })
    const { page } = visiting
    await login(page)
    await page.goto(`${fixture.url}/console#/videos/new`)
    await page.getByLabel('References').check()
    await page.getByRole('button', { name: 'Add references' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('201 assets').waitFor()
    await dialog.locator('.picker-list').evaluate('(list) => list.scrollTo(0, 2000)')
    const use = dialog.getByRole('button', { name: 'Use', exact: true })
    const { y = 0, height = 0 } = (await use.boundingBox()) ?? {}
    expect(y + height).toBeLessThan(500)
    expect(await dialog.getByRole('checkbox').count()).toBeLessThan(60)
    await dialog.getByLabel('Find by name').fill('NEED')
    await dialog.getByRole('checkbox', { name: 'the Needle' }).check()
    await use.click()
    await page.locator('.inputs').getByText('the Needle').waitFor()
  })
})
