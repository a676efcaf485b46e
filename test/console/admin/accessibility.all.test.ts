/** Runs with `--all`: a browser opens every operators' screen, in several sizes, both themes and both languages. */
import { afterAll, beforeAll, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { openChecker } from '../axe.ts'
import { describeWithBrowser, desktop, openBrowser, phone } from '../browser.ts'
import { type Looks, zoomed } from '../screen-faults.ts'
import { type AdminFixture, addUsers, openAdminFixture, visitAdmin } from './fixture.ts'

setDefaultTimeout(400_000)

/** In each language. */
const looks: Readonly<Record<'en-GB' | 'zh-CN', Looks>> = {
  'en-GB': [
    { title: 'on a phone, in dark colours', viewport: phone, colorScheme: 'dark' },
    { title: 'at a zoom of 200 %', viewport: zoomed, colorScheme: 'light' },
    { title: 'on a desktop, in light colours', viewport: desktop, colorScheme: 'light' },
  ],
  'zh-CN': [
    { title: 'on a phone, in light colours', viewport: phone, colorScheme: 'light' },
    { title: 'on a desktop, in dark colours', viewport: desktop, colorScheme: 'dark' },
  ],
}

const limits = JSON.stringify([
  { unit: 'tokens', amount: 1_000_000, window: 'day', model: 'a-model-with-quite-a-long-name-*' },
  { unit: 'storage_bytes', amount: 1_500_000_000 },
])

/** Everything that the screens can show. */
const fill = async (fixture: AdminFixture): Promise<string> => {
  const { store } = fixture
  const now = Date.now()
  const team = await store.addTeam({ name: 'A team with quite a long name', createdAt: now, limits })
  if (typeof team === 'string') throw new Error(team)
  const [user, disabled] = await addUsers(fixture, 60, (number) => ({
    ...{ name: number === 0 ? 'a-user-with-quite-a-long-name@department.example' : `user-${number}`, team: team.id },
  }))
  await store.changeUser(disabled?.id ?? '', { disabled: true }, { now })
  await store.changeUser(user?.id ?? '', { limits, externalId: 'hr-1' }, { now })
  for (const [label, revoked] of [['laptop'], ['old', true], []] as const) {
    const token = await store.addUserToken(user?.id ?? '', {
      ...{ hash: `${label}`.padEnd(64, '0'), start: 'sk-abcdef', label, scopes: ['text', 'video'], models: ['m-*'] },
      ...{ limits, createdAt: now, expiresAt: now + 1e9 },
    })
    if (revoked && typeof token === 'object') await store.revokeUserToken(token.id, now)
  }
  for (let model = 0; model < 9; model++)
    store.recordUsage({
      ...{ user: user?.id ?? '', token: undefined, model: `model-${model}`, at: now, cost: 1e9 * model },
      tokens: { input: 10_000, cachedInput: 0, output: 2_000, reasoning: 0 },
    })
  await store.flushUsage()
  const failed = [{ series: ['requests', '500'], value: 50 }]
  for (let age = 0; age < 25; age++) await store.addMetricCounts({ counts: failed, peaks: [] }, now - age * 60_000)
  await store.claim({ user: user?.id ?? '', type: 'AIGC', name: 'cats', createdAt: now, dueAt: now + 1e9 })
  return user?.id ?? ''
}

describeWithBrowser('axe finds no violation, and everything fits', () => {
  let browser: Browser
  let fixture: AdminFixture
  let user: string
  beforeAll(async () => {
    browser = await openBrowser()
    fixture = await openAdminFixture({
      MEDIA_UPSTREAM_LIMITS: '{"ListAssets":5}',
      VIDEO_SLOTS: '{"a-pool":2}',
    })
    user = await fill(fixture)
  })
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]()
    await browser?.close()
  })

  for (const locale of ['en-GB', 'zh-CN'] as const) {
    test(`in ${locale}: ${looks[locale].map(({ title }) => title).join('; ')}`, async () => {
      // The script of axe must bypass the content security policy.
      await using visiting = await visitAdmin(browser, fixture, 'users', { viewport: phone, locale, bypassCSP: true })
      const { page } = visiting
      const check = await openChecker(page, looks[locale])
      const open = async (screen: string, ready: string) => {
        await page.evaluate(`location.hash = '#/admin/${screen}'`)
        await page.locator(ready).first().waitFor()
        await check(screen)
      }
      /** Opens the dialog of the nth button in a part of the page, and closes it. */
      const dialog = async (screen: string, button: string, fill: () => Promise<unknown> = async () => {}) => {
        await page.locator(button).first().click()
        await page.getByRole('dialog').waitFor()
        await fill()
        await check(screen)
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await open('overview', '.alerts')
      await page.locator('details summary').click()
      await check('overview with its table')
      await open('users', 'tbody tr:nth-child(50)')
      await dialog('an import', '.heading button')
      await dialog('a new user with a fault', '.heading .primary', () =>
        page.getByRole('dialog').locator('[type="submit"]').click(),
      )
      await open('users?search=nobody-has-this', '.empty')
      await open(`users/${user}`, '.rows > li')
      await dialog('an edited user', '.list-actions button:nth-child(1)')
      await dialog('a disabled user', '.list-actions button:nth-child(5)')
      await dialog('limits', 'section .heading button', () => page.locator('dialog .add').click())
      await dialog('a new token', 'section + section .heading button')
      await dialog('a rotated token', '.rows .actions button:nth-child(2)')
      await open('users/nobody', '.empty')
      await open('teams', '.rows > li')
      await dialog('a team', '.rows .actions button:nth-child(1)')
      await open('usage?by=day,user,team,token,model', '.plot rect')
      await open('audit', 'tbody tr')
      await dialog('a verification', '.heading button')
      await open('decisions/groups', '.rows > li')
      await dialog('an adoption', '.rows .actions button:nth-child(1)')
      await dialog('a group for a user', '.list-actions button')
      await open('decisions/videos', '.empty')
      await open('decisions/batches', '.empty')
      await open('settings', 'tbody tr')
      await open('nothing', '.empty')
    })
  }
})
