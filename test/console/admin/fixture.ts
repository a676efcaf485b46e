import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { hashPassword } from '../../../plugins/web-session/index.ts'
import type { Emulator, EmulatorOptions } from '../../../src/emulator/index.ts'
import { openServerFixture } from '../../support/server-fixture.ts'
import { type Visit, visit } from '../browser.ts'
import { name, password } from '../fixture.ts'

/** Hashing is slow on purpose, so it is done once. */
const hash = hashPassword(password)

type Variables = Record<string, string | undefined>

/** A default server in a process of its own, with the admin ann and a database of its own. */
export const openAdminFixture = async (
  environment: Variables | ((emulator: Emulator) => Variables) = {},
  options: EmulatorOptions = {},
) => {
  const fixture = await openServerFixture('sqlite', options)
  const { emulator, store } = fixture
  const server = await fixture.start({
    TEXT_UPSTREAM_URL: emulator.text.url,
    TEXT_UPSTREAM_KEY: emulator.text.key,
    VIDEO_UPSTREAM_URL: emulator.video.url,
    VIDEO_UPSTREAM_KEY: emulator.video.key,
    ...(typeof environment === 'function' ? environment(emulator) : environment),
  })
  const admin = await store.addAdminUser({ name, password: await hash, role: 'admin', createdAt: Date.now() })
  if (typeof admin === 'string') throw new Error(admin)
  return { ...fixture, server, url: server.url, mediaOrigin: emulator.origin, admin }
}

export type AdminFixture = Awaited<ReturnType<typeof openAdminFixture>>

/** Opens an operators' screen as ann. */
export const visitAdmin = async (
  browser: Browser,
  fixture: Pick<AdminFixture, 'url' | 'mediaOrigin'>,
  screen: string,
  options: BrowserContextOptions = {},
): Promise<Visit> => {
  const visiting = await visit(browser, fixture, options)
  const { page } = visiting
  await page.goto(`${fixture.url}/console#/admin/${screen}`)
  await page.getByLabel(/^(Name|用户名)$/).fill(name)
  await page.getByLabel(/^(Password|密码)$/).fill(password)
  await page.getByRole('button', { name: /^(Log in|登录)$/ }).click()
  await page.getByRole('navigation', { name: /^(Operation|运维栏目)$/ }).waitFor()
  return visiting
}

/** Presses a button of the open dialog, and waits until the dialog has closed. */
export const submit = async (page: Page, button: string): Promise<void> => {
  await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** Adds users. */
export const addUsers = async (
  { store }: Pick<AdminFixture, 'store'>,
  count: number,
  of: (number: number) => { readonly name: string; readonly team?: string; readonly role?: 'user' | 'admin' },
) =>
  Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const user = await store.addAdminUser({ ...of(number), createdAt: Date.now() + number })
      if (typeof user === 'string') throw new Error(user)
      return user
    }),
  )
