/** Runs with `--all`: a browser opens every screen that a link leads to, in several sizes, by mouse and by keyboard. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { visitAdmin } from './admin/fixture.ts'
import { openAxe } from './axe.ts'
import { describeEveryScreen, openScreen, screenNames, screens, walkScreens } from './every-screen.ts'
import { malformedAddresses } from './malformed-addresses.ts'
import { findInLooks, hiddenTabs, looks, tooWide, unreached } from './screen-faults.ts'

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

  for (const locale of ['en-GB', 'zh-CN'] as const) {
    // Keys are the same in each language.
    const hasKeys = locale === 'en-GB'
    const titles = looks[locale].map(({ title }) => title).join('; ')
    test(`is accessible and fits${hasKeys ? ', and is used by keyboard alone' : ''}, in ${locale}: ${titles}`, async () => {
      // The script of axe must bypass the content security policy.
      const { viewport, colorScheme } = looks[locale][0]
      const options = { viewport, colorScheme, locale, bypassCSP: true }
      await using visiting = await visitAdmin(shared().browser, shared().fixture, 'overview', options)
      const { page } = visiting
      const violations = await openAxe(page)
      const find = async () => [...(await violations()), ...(await tooWide(page)), ...(await hiddenTabs(page))]
      const faults: string[] = []
      const routes = await walkScreens(page, async (route) => {
        const found = await findInLooks(page, looks[locale], find)
        if (hasKeys) found.push(...(await findInLooks(page, looks[locale], () => unreached(page))))
        faults.push(...found.map((fault) => `${route}: ${fault}`))
      })
      expect(faults).toEqual([])
      expect([...routes].sort()).toEqual([...screens].sort())
    })
  }
})
