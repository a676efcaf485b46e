import { expect, setDefaultTimeout, test } from 'bun:test'
import type { BrowserContextOptions } from 'playwright-core'
import { visitAdmin } from './admin/fixture.ts'
import { openAxe } from './axe.ts'
import { visit } from './browser.ts'
import { inviteTo, walkDialogs } from './every-dialog.ts'
import { describeEveryScreen } from './every-screen.ts'
import { tooWide } from './screen-faults.ts'

/** Fewer dialogs would mean that the buttons were not found. */
export const fewestDialogs = 30

/** Declares the walk through every dialog, the login and an invitation, once for each size of the screen. */
export const describeDialogs = (sizes: Readonly<Record<string, BrowserContextOptions>>): void => {
  setDefaultTimeout(900_000)

  describeEveryScreen('every dialog, the login and an invitation', (shared) => {
    for (const [title, options] of Object.entries(sizes)) {
      test(`is accessible and fits, ${title}`, async () => {
        // The script of axe must bypass the content security policy.
        const visitOptions = { ...options, bypassCSP: true }
        const faults: string[] = []
        {
          await using visiting = await visit(shared().browser, shared().fixture, visitOptions)
          const { page } = visiting
          const check = async (name: string) => {
            const violations = await openAxe(page)
            faults.push(...[...(await violations()), ...(await tooWide(page))].map((fault) => `${name}: ${fault}`))
          }
          await page.locator('input[type=password]').waitFor()
          await check('login')
          const link = await inviteTo(shared().fixture, `invited-${title.length}-${Math.random()}`)
          await page.goto(link)
          await page.reload()
          await page.locator('input[autocomplete=new-password]').first().waitFor()
          await check('invitation')
          await page.goto(link.replace(/.$/, '-'))
          await page.reload()
          await page.locator('h1').waitFor()
          await check('an invitation that has ended')
        }
        await using visiting = await visitAdmin(shared().browser, shared().fixture, 'overview', visitOptions)
        const { page } = visiting
        const violations = await openAxe(page)
        const titles = await walkDialogs(page, async (dialog) => {
          faults.push(...[...(await violations()), ...(await tooWide(page))].map((fault) => `${dialog}: ${fault}`))
        })
        expect(faults).toEqual([])
        expect(titles.length).toBeGreaterThan(fewestDialogs)
      })
    }
  })
}
