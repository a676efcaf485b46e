/** Runs with `--all`: a browser opens every screen in two sizes and both themes. */
import { afterAll, beforeAll, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { openChecker } from './axe.ts'
import { describeWithBrowser, desktop, login, openBrowser, phone, visit } from './browser.ts'
import { type Fixture, openFixture } from './fixture.ts'
import type { Looks } from './screen-faults.ts'

const fill = async ({ emulator, store, user }: Fixture) => {
  const { id } = emulator.library.addGroup({ name: 'holidays', description: 'Beach and mountains' })
  await store.adoptGroup({ id, user, type: 'AIGC', name: 'holidays', createdAt: Date.now() })
  emulator.library.addAsset({ groupId: id, name: 'beach' })
  emulator.library.addAsset({ groupId: id, name: 'clip', type: 'Video' })
  emulator.library.addAsset({ groupId: id, name: 'slow', status: 'Processing' })
  emulator.library.addAsset({
    groupId: id,
    name: 'wrong',
    status: 'Failed',
    error: { code: 'X', message: 'Not this one.' },
  })
  const tokens = { input: 12_040, output: 3_300, cachedInput: 4_000, reasoning: 100 }
  await store.recordUsage({ user, token: undefined, model: 'a-model', at: Date.now(), tokens })
}

const looks: Looks = [
  { title: 'on a phone, in light colours', viewport: phone, colorScheme: 'light' },
  { title: 'on a phone, in dark colours', viewport: phone, colorScheme: 'dark' },
  { title: 'on a desktop, in dark colours', viewport: desktop, colorScheme: 'dark' },
  { title: 'on a desktop, in light colours', viewport: desktop, colorScheme: 'light' },
]

describeWithBrowser('axe finds no violation', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('on any screen, in both colours, on a phone and a desktop', async () => {
    await using fixture = await openFixture({ processingMs: Number.POSITIVE_INFINITY })
    // The script of axe must bypass the content security policy.
    await using visiting = await visit(browser, fixture, { viewport: phone, bypassCSP: true })
    const { page } = visiting
    const check = await openChecker(page, looks)
    const open = (button: string) => page.getByRole('button', { name: button }).first().click()

    await check('login')
    await login(page)
    await page.getByText('No groups yet').waitFor()
    await check('no groups')
    await open('New group')
    await check('new group')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('This page').waitFor()
    await check('no tokens')
    await open('New token')
    await page.getByLabel('Label').fill('laptop')
    await page.keyboard.press('Enter')
    await page.locator('.secret').waitFor()
    await check('the new token')
    await page.getByRole('button', { name: 'Done' }).click()
    await check('tokens')
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByText('No usage in these days').waitFor()
    await check('no usage')

    await fill(fixture)
    await open('Refresh')
    await page.getByRole('img', { name: 'Text: Tokens by day and model' }).waitFor()
    await page.getByText('The bars as a table').click()
    await check('usage')
    await page.getByRole('link', { name: 'Assets' }).click()
    await page.getByRole('link', { name: 'holidays' }).waitFor()
    await check('groups')
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('heading', { name: 'wrong' }).waitFor()
    await check('assets')
    await open('Add asset')
    await check('new asset')
    await page.keyboard.press('Escape')
    await open('Delete wrong')
    await check('deletion')
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'Face check' }).click()
    await check('face check')
    await open('Start face check')
    await page.getByRole('timer').waitFor()
    await check('scanning')
    fixture.faces.status = 'failed'
    await page.getByRole('heading', { name: 'The check did not succeed' }).waitFor()
    await check('a failed check')
    await page.getByRole('link', { name: 'Chat' }).click()
    await check('no conversation')
    await page.getByLabel('Question').fill('Hello')
    await open('Send')
    await page.getByText(/tokens out/).waitFor()
    await check('a conversation')
  }, 300_000)
})
