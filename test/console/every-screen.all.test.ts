/** Runs with `--all`: a browser opens every screen that a link leads to, in several sizes, by mouse and by keyboard. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { visitAdmin } from './admin/fixture.ts'
import { openAxe } from './axe.ts'
import { describeEveryScreen, openScreen, screenNames, screens, walkScreens } from './every-screen.ts'
import { malformedAddresses } from './malformed-addresses.ts'
import { hiddenTabs, testInLooks, tooWide } from './screen-faults.ts'

setDefaultTimeout(600_000)

describeEveryScreen('every screen', (shared) => {
  test('is in the list of this test', () => {
    const { all, admin } = screenNames()
    expect(all.length).toBeGreaterThan(8)
    expect(admin.length).toBeGreaterThan(6)
    expect([...new Set(screens.map((route) => route.split('/')[0] ?? ''))].sort()).toEqual([...all].sort())
    const operators = screens.filter((route) => route.startsWith('admin/')).map((route) => route.split('/')[1] ?? '')
    expect([...new Set(operators)].sort()).toEqual([...admin].sort())
  })

  test('is not at an address with a missing or malformed id, where a page says so', async () => {
    await using visiting = await visitAdmin(shared().browser, shared().fixture, 'overview')
    const { page, errors } = visiting
    for (const address of malformedAddresses) {
      await openScreen(page, `#/${address}`)
      const heading = await page.locator('main h1').textContent()
      const links = await page.locator('main a').evaluateAll((all) => all.map((link) => link.textContent?.trim()))
      expect([address, heading, links, await page.title()]).toEqual([
        ...[address, 'This page does not exist', ['To the groups'], 'This page does not exist · sluice'],
      ])
    }
    expect(errors).toEqual([])
  })

  testInLooks(async ({ options, of }) => {
    await using visiting = await visitAdmin(shared().browser, shared().fixture, 'overview', options)
    const { page } = visiting
    const violations = await openAxe(page)
    const find = async () => [...(await violations()), ...(await tooWide(page)), ...(await hiddenTabs(page))]
    const faults: string[] = []
    const routes = await walkScreens(page, async (route) => {
      faults.push(...(await of(page, find)).map((fault) => `${route}: ${fault}`))
    })
    expect(faults).toEqual([])
    expect([...routes].sort()).toEqual([...screens].sort())
  })
})
