/** Runs with `--all`: a browser is used by keyboard alone. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { name, openFixture, password } from './fixture.ts'
import { focused, tabTo } from './keyboard.ts'
import { openMediaFixture } from './media-fixture.ts'

setDefaultTimeout(300_000)

describeWithBrowser('by keyboard alone', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('a user logs in, creates a group, adds an asset, deletes it, and logs out', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const { keyboard } = page
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(await focused(page)).toBe('input Name')
    await keyboard.type(name)
    await tabTo(page, 'input Password', 1)
    await keyboard.type(password)
    await keyboard.press('Enter')
    await page.getByText('No groups yet').waitFor()
    expect(await focused(page)).toBe('h1 Asset groups')

    // A dialog takes the focus, and returns it when it closes.
    await tabTo(page, 'button New group')
    await keyboard.press('Enter')
    expect(await focused(page)).toBe('input Name')
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('button New group')
    await keyboard.press('Space')
    await keyboard.type('holidays')
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'holidays' }).waitFor()
    await page.getByText('No assets yet').waitFor()

    await tabTo(page, 'button Add asset')
    await keyboard.press('Enter')
    await keyboard.type('https://files.example/beach.png')
    await tabTo(page, 'select Type', 1)
    await tabTo(page, 'input Name', 1)
    await keyboard.type('beach')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'beach' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('button Add asset')

    // The button that opened the dialog was deleted: the heading gets the focus.
    await tabTo(page, 'button Delete beach')
    await keyboard.press('Enter')
    await tabTo(page, 'button Delete asset', 3)
    await keyboard.press('Enter')
    await page.getByText('No assets yet').waitFor()
    expect(await focused(page)).toBe('h1 holidays')

    // The skip link leads past the header and the navigation.
    await page.reload()
    await page.getByText('No assets yet').waitFor()
    await tabTo(page, 'a Skip to content', 1)
    await keyboard.press('Enter')
    expect(await focused(page)).toBe('h1 holidays')
    await keyboard.press('Shift+Tab')
    await tabTo(page, 'a Skip to content')
    // Behind the logo and the link to the account.
    await tabTo(page, 'button Log out', 3)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(await focused(page)).toBe('input Name')
    expect(visiting.errors).toEqual([])
  })

  test('a user chats: Enter sends, Shift and Enter start a new line', async () => {
    await using fixture = await openFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const { keyboard } = page
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await keyboard.type(name)
    await keyboard.press('Tab')
    await keyboard.type(password)
    await keyboard.press('Enter')
    await page.getByText('No groups yet').waitFor()
    await page.goto(`${fixture.url}/console#/chat`)
    await page.getByRole('option', { name: 'emulated-wide' }).waitFor({ state: 'attached' })
    expect(await focused(page)).toBe('h1 Chat')
    await tabTo(page, 'textarea Question')
    await keyboard.type('one')
    await keyboard.press('Shift+Enter')
    await keyboard.type('two')
    await keyboard.press('Enter')
    await page.getByText(/tokens out/).waitFor()
    expect(await page.locator('.turn.user .text').textContent()).toBe('one\ntwo')
    expect(await focused(page)).toBe('textarea Question')
  })

  test('a user makes a video of a chosen asset, and cancels it', async () => {
    await using fixture = await openMediaFixture({ emulator: { video: { queuedMs: Number.POSITIVE_INFINITY } } })
    const group = await fixture.addGroup('holidays')
    fixture.emulator.library.addAsset({ groupId: group, name: 'beach' })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const { keyboard } = page
    await login(page)
    await page.goto(`${fixture.url}/console#/videos`)
    await page.getByText('No videos yet').waitFor()
    await tabTo(page, 'a New video')
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'New video' }).waitFor()
    expect(await focused(page)).toBe('h1 New video')
    await tabTo(page, 'input Model')
    await keyboard.press('Control+A')
    await keyboard.type('doubao-seedance-2-0-260128')
    await keyboard.press('Escape')
    await tabTo(page, 'textarea Prompt', 1)
    await keyboard.type('Waves')
    await tabTo(page, 'input Only text', 1)
    await keyboard.press('ArrowDown')
    await tabTo(page, 'button Choose: First frame', 1)
    await keyboard.press('Enter')
    await page.getByRole('radio', { name: 'beach' }).waitFor()
    await tabTo(page, 'input beach', 4)
    await keyboard.press('Space')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // The dialog returns the focus to its button, which now changes the frame.
    expect(await focused(page)).toBe('button Change: First frame')
    await tabTo(page, 'button Make the video', 20)
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Waves' }).waitFor()
    expect(await focused(page)).toBe('h1 Waves')
    await tabTo(page, 'button Cancel', 1)
    await keyboard.press('Enter')
    await tabTo(page, 'button Cancel the video', 3)
    await keyboard.press('Enter')
    await page.getByText('The video was cancelled before it started.').waitFor()
    expect(visiting.errors).toEqual([])
  })
})
