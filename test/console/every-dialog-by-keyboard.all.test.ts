/** Runs with `--all`: every dialog, the login and an invitation are used by keyboard, in two sizes. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { visitAdmin } from './admin/fixture.ts'
import { desktop, visit } from './browser.ts'
import { inviteTo, walkDialogs } from './every-dialog.ts'
import { fewestDialogs } from './every-dialog-suite.ts'
import { describeEveryScreen } from './every-screen.ts'
import { narrow, unreached } from './screen-faults.ts'

setDefaultTimeout(900_000)

describeEveryScreen('every dialog, the login and an invitation', (shared) => {
  /** What is wrong with the present page for the keyboard, and with how a dialog closes. */
  const keyboardFaults = async (page: Page): Promise<readonly string[]> => {
    const faults = await unreached(page)
    const isOpen = () => page.evaluate<boolean>(`document.querySelector('dialog[open]') !== null`)
    if (!(await isOpen())) return faults
    await page.keyboard.press('Escape')
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    return (await isOpen()) ? [...faults, 'Escape does not close it'] : faults
  }

  for (const [title, viewport] of Object.entries({ 'a desktop': desktop, 'a screen of 320 pixels': narrow }))
    test(`is used by keyboard alone, on ${title}`, async () => {
      const faults: string[] = []
      const check = (page: Page) => async (name: string) =>
        void faults.push(...(await keyboardFaults(page)).map((fault) => `${name}: ${fault}`))
      {
        await using visiting = await visit(shared().browser, shared().fixture, { viewport })
        const { page } = visiting
        await page.locator('input[type=password]').waitFor()
        await check(page)('login')
        await page.goto(await inviteTo(shared().fixture, `invited-${Math.random()}`))
        await page.reload()
        await page.locator('input[autocomplete=new-password]').first().waitFor()
        await check(page)('invitation')
      }
      await using visiting = await visitAdmin(shared().browser, shared().fixture, 'overview', { viewport })
      const titles = await walkDialogs(visiting.page, check(visiting.page))
      expect(faults).toEqual([])
      expect(titles.length).toBeGreaterThan(fewestDialogs)
    })
})
