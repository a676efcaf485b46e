/** Runs with `--all`: a browser opens the screens of the library, of the chat and of failed videos in two sizes. */
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

const answer = [
  '# A heading\n\n### Another',
  '| a | b |\n|---|--:|\n| a cell that is long enough to scroll on a phone | another one |',
  '- [x] done\n- `code` and a [link](https://example.com)',
  '> quoted',
  '```js\nconst line = "a long line, a long line, a long line, a long line, a long line, a long line"\n```',
].join('\n\n')

describeWithBrowser('axe finds no violation, and nothing is wider than the screen,', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('in the library, a chat and a failed video, on a phone and a desktop', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    const add = (name: string, more: object = {}) =>
      fixture.emulator.library.addAsset({ groupId: group, name, ...more }).id
    for (let nth = 0; nth < 60; nth++) add(`a-name-without-a-break-${'x'.repeat(nth)}`.slice(0, 64))
    const beach = add('beach')
    const error = { code: 'FaceMismatch', message: 'The face does not match.' }
    const refused = add('refused', { status: 'Failed', error })
    await using visiting = await visit(browser, fixture, { viewport: phone, bypassCSP: true })
    const { page } = visiting
    const check = await openChecker(page, looks)
    const press = (button: string) => page.getByRole('button', { name: button }).first().click()
    const go = (hash: string) => page.goto(`${fixture.url}/console#/${hash}`)

    await login(page)
    await go('groups/all')
    await page.locator('article').first().waitFor()
    await page.getByRole('checkbox').first().check()
    await check('all assets')
    await press('Table')
    await page.getByRole('row').nth(1).waitFor()
    await check('the table')
    await press('Delete')
    await check('the deletion of several')
    await page.keyboard.press('Escape')
    await page.getByLabel('Find by name').fill('nothing at all')
    await page.getByText('Nothing matches the filters').waitFor()
    await check('no match')
    await go(`asset/${beach}`)
    await page.getByText('Use it in a program').waitFor()
    await check('an asset')
    await go(`asset/${refused}`)
    await page.locator('.verdict summary').click()
    await check('a refused asset')
    await go('asset/asset-20260101000000-abcde')
    await page.getByText('This asset is not there').waitFor()
    await check('a missing asset')
    await go('groups/AIGC')
    await press('Delete holidays')
    await page.getByText('assets in it will be deleted').waitFor()
    await check('the deletion of a group')
    await page.keyboard.press('Escape')

    const deltas = `data: ${JSON.stringify({ choices: [{ delta: { content: answer } }] })}\n\ndata: [DONE]\n\n`
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: deltas }),
    )
    await go('chat')
    await page.getByRole('option', { name: 'emulated-wide' }).waitFor({ state: 'attached' })
    await page.getByLabel('Question').fill('A long question. '.repeat(100))
    await press('Add one of your assets')
    await page.getByRole('dialog').getByRole('checkbox').first().check()
    await check('the picker in the chat')
    await press('Use')
    await press('Send')
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    await check('an answer')
    await press('Edit')
    await check('an edited question')
    await press('Settings')
    await check('the settings')
    await page.keyboard.press('Escape')
    await press('History')
    await page.getByRole('dialog').getByRole('listitem').first().waitFor()
    await check('the history')
    await page.keyboard.press('Escape')

    await go('videos/new')
    await page.getByText('You have not tried this model yet.').waitFor()
    await page.getByLabel('Prompt').fill('a song')
    await press('Make the video')
    await page.getByText('The model is making the video.').waitFor()
    const [task] = fixture.emulator.video.tasks()
    const sound = { code: 'OutputAudioSensitiveContentDetected', message: 'The request failed.' }
    fixture.emulator.video.finish(task?.id ?? '', { status: 'failed', ...sound })
    await page.getByRole('button', { name: 'Again without sound' }).waitFor()
    await check('a failed video')
    await go('videos')
    await page.locator('.video-row').waitFor()
    await check('the list of videos')
  }, 300_000)
})
