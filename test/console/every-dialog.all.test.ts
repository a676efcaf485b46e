/** Runs with `--all`: a browser opens every dialog, the login and an invitation, in several sizes, by mouse and by keyboard. */
import { expect, setDefaultTimeout } from 'bun:test'
import type { Page } from 'playwright-core'
import { visitAdmin } from './admin/fixture.ts'
import { openAxe } from './axe.ts'
import { visit } from './browser.ts'
import { inviteTo, walkDialogs } from './every-dialog.ts'
import { describeEveryScreen } from './every-screen.ts'
import { testInLooks, tooWide } from './screen-faults.ts'

setDefaultTimeout(900_000)

/** Fewer dialogs would mean that the buttons were not found. */
const fewestDialogs = 30

/** Whether Escape closes the open dialog. */
const closes = async (page: Page): Promise<boolean> => {
  await page.keyboard.press('Escape')
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  return page.evaluate<boolean>(`document.querySelector('dialog[open]') === null`)
}

describeEveryScreen('every dialog, the login and an invitation', (shared) => {
  testInLooks(async ({ locale, options, of }) => {
    const faults: string[] = []
    const check = async (page: Page, name: string, violations: () => Promise<readonly string[]>) => {
      const found = await of(page, async () => [...(await violations()), ...(await tooWide(page))])
      faults.push(...found.map((fault) => `${name}: ${fault}`))
    }
    {
      await using visiting = await visit(shared().browser, shared().fixture, options)
      const { page } = visiting
      await page.locator('input[type=password]').waitFor()
      await check(page, 'login', await openAxe(page))
      const link = await inviteTo(shared().fixture, `invited-${locale}-${Math.random()}`)
      await page.goto(link)
      await page.reload()
      await page.locator('input[autocomplete=new-password]').first().waitFor()
      await check(page, 'invitation', await openAxe(page))
      await page.goto(link.replace(/.$/, '-'))
      await page.reload()
      await page.locator('h1').waitFor()
      await check(page, 'an invitation that has ended', await openAxe(page))
    }
    await using visiting = await visitAdmin(shared().browser, shared().fixture, 'overview', options)
    const { page } = visiting
    const violations = await openAxe(page)
    const dialogs = await walkDialogs(page, async (dialog) => {
      await check(page, dialog, violations)
      if (!(await closes(page))) faults.push(`${dialog}: Escape does not close it`)
    })
    expect(faults).toEqual([])
    expect(dialogs.length).toBeGreaterThan(fewestDialogs)
  })
})
