/** Runs with `--all`: a browser opens every screen of media in two sizes. */
import { afterAll, beforeAll, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { openChecker } from './axe.ts'
import { describeWithBrowser, desktop, login, openBrowser, phone, visit } from './browser.ts'
import { openMediaFixture } from './media-fixture.ts'
import type { Looks } from './screen-faults.ts'

/** The colours do not depend on the size. */
const looks: Looks = [
  { title: 'on a phone, in dark colours', viewport: phone, colorScheme: 'dark' },
  { title: 'on a desktop, in light colours', viewport: desktop, colorScheme: 'light' },
]

describeWithBrowser('axe finds no violation, and nothing is wider than the screen,', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('with uploads and videos, on a phone and a desktop', async () => {
    await using fixture = await openMediaFixture({ video: { slots: { '*': { running: 1 } } } })
    const group = await fixture.addGroup('holidays')
    const longName = 'a-name-without-a-break-'.repeat(2)
    for (const name of ['beach', longName]) fixture.emulator.library.addAsset({ groupId: group, name })
    await using visiting = await visit(browser, fixture, { viewport: phone, bypassCSP: true })
    const { page } = visiting
    const check = await openChecker(page, looks)
    const press = (button: string) => page.getByRole('button', { name: button }).first().click()

    await login(page)
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('heading', { name: 'beach' }).waitFor()
    const wrong = { name: `${longName.repeat(4)}.txt`, mimeType: 'text/plain', buffer: Buffer.from('no picture') }
    await page.locator('input[type=file]').setInputFiles(wrong)
    await page.locator('.uploads').getByRole('alert').waitFor()
    await check('a failed upload')
    await page.getByRole('link', { name: 'Videos' }).click()
    await page.getByText('No videos yet').waitFor()
    await check('no videos')
    await page.getByRole('link', { name: 'New video' }).click()
    await page.getByLabel('Model').fill('doubao-seedance-2-5-260628')
    await page.getByLabel('References').check()
    await press('Add references')
    await page.getByRole('checkbox', { name: 'beach' }).check()
    await page.getByRole('checkbox', { name: longName }).check()
    await check('the picker')
    await press('Use 2 assets')
    await page.getByText('More fields').click()
    await check('a form with references')
    await page.getByLabel('A first frame').check()
    await check('a form with frames')
    await press('Make the video')
    await page.getByRole('alert').waitFor()
    await check('a form with an error')
    await page.getByLabel('References').check()
    await press('Make the video')
    await page.getByText('The model is making the video.').waitFor()
    await check('a running task')
    await page.goBack()
    await press('Make the video')
    await page.getByText('Number 1 in the queue').waitFor()
    await check('a waiting task')
    await press('Cancel')
    await check('a cancellation')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Videos' }).last().click()
    await page.locator('.rows').getByText('Number 1 in the queue').waitFor()
    await check('the list')
    const [task] = fixture.emulator.video.tasks()
    fixture.emulator.video.finish(task?.id ?? '')
    await page.locator('.badge.succeeded').waitFor()
    await page.locator('.rows a').last().click()
    await page.locator('video.player').waitFor()
    await check('a result')
    await press('Save the video as an asset')
    await page.getByRole('option', { name: 'holidays' }).waitFor({ state: 'attached' })
    await check('saving a result')
  }, 300_000)
})
