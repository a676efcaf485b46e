import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, openBrowser, visit } from './browser.ts'
import { name, openHouse, password } from './stub.ts'

/** What has the focus, in words. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const { activeElement: one } = document
    const label = one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent
    return one.tagName.toLowerCase() + ' ' + label.trim()
  })()`)

/** Whether what has the focus shows that it has, itself or by the frame around it. */
const isShown = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const { activeElement: one } = document
    return [one, one.parentElement].map((it) => getComputedStyle(it)).some(
      ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    )
  })()`)

/** Tabs to something; fails when it is not to be reached, or does not show that it has the focus. */
const tabTo = async (page: Page, wanted: string, most = 30): Promise<void> => {
  const seen: string[] = []
  for (let at = 0; at < most; at++) {
    await page.keyboard.press('Tab')
    const here = await focused(page)
    seen.push(here)
    if (here !== wanted) continue
    expect([wanted, await isShown(page)]).toEqual([wanted, true])
    return
  }
  throw new Error(`${wanted} is not among ${seen.join(', ')}`)
}

setDefaultTimeout(30_000)

describe.skipIf(!hasBrowser)('by keyboard alone', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('one logs in, makes a group, adds an asset, deletes it, and logs out', async () => {
    await using house = await openHouse()
    await using visiting = await visit(browser, house)
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

    // A dialog takes the focus, and gives it back.
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

    // What had the focus is gone with what was deleted.
    await tabTo(page, 'button Delete beach')
    await keyboard.press('Enter')
    await tabTo(page, 'button Delete asset', 3)
    await keyboard.press('Enter')
    await page.getByText('No assets yet').waitFor()
    expect(await focused(page)).toBe('h1 holidays')

    // From the top, past everything that is on every screen.
    await page.reload()
    await page.getByText('No assets yet').waitFor()
    await tabTo(page, 'a Skip to content', 1)
    await keyboard.press('Enter')
    expect(await focused(page)).toBe('h1 holidays')
    await keyboard.press('Shift+Tab')
    await tabTo(page, 'a Skip to content')
    await tabTo(page, 'button Log out', 2)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(await focused(page)).toBe('input Name')
    expect(visiting.trouble).toEqual([])
  })

  test('one chats: Enter sends, Shift and Enter begins a line', async () => {
    await using house = await openHouse()
    await using visiting = await visit(browser, house)
    const { page } = visiting
    const { keyboard } = page
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await keyboard.type(name)
    await keyboard.press('Tab')
    await keyboard.type(password)
    await keyboard.press('Enter')
    await page.getByText('No groups yet').waitFor()
    await page.goto(`${house.url}/console#/chat`)
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
})
