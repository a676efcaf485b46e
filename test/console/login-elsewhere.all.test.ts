/** Runs with `--all`: a browser before a host app with a login of its own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { Browser } from 'playwright-core'
import { consoleTokens } from '../../plugins/api-token/index.ts'
import { type ConsolePagesOptions, consolePages } from '../../plugins/console/index.ts'
import { openStore } from '../../src/store/index.ts'
import { describeWithBrowser, openBrowser, visit } from './browser.ts'

setDefaultTimeout(300_000)

/** A host whose own login at `/login` sets a cookie, and whose users have no row in the store. */
const openHost = async (login: ConsolePagesOptions['login']) => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const isAnn = (request: Request) => /\bwho=ann\b/.test(request.headers.get('cookie') ?? '')
  const identify = (request: Request) => (isAnn(request) ? { user: 'host|ann' } : undefined)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request): Promise<Response> => app.handle(request),
  })
  const app = new Elysia()
    .use(consolePages({ login }))
    .use(consoleTokens({ store, identify, publicUrl: server.url.origin }))
    .get(
      '/login',
      () =>
        new Response(null, {
          status: 302,
          headers: { location: '/console', 'set-cookie': 'who=ann; Path=/; HttpOnly' },
        }),
    )
    .get('/api/session', ({ request, status }) =>
      isAnn(request) ? { success: true, user: { id: 'host|ann', name: 'Ann of the host' } } : status(401),
    )
    .delete('/api/session', ({ set }) => {
      set.headers['set-cookie'] = 'who=; Path=/; Max-Age=0'
      return { success: true }
    })
  return {
    ...{ url: server.url.origin, store },
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await store.close()
    },
  }
}

describeWithBrowser('the console of a host with a login of its own', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('sends users to that login, and knows a session that it has not begun', async () => {
    await using host = await openHost('/login')
    await using visiting = await visit(browser, host)
    const { page, context, errors } = visiting
    const link = page.getByRole('link', { name: 'Log in' })
    await link.waitFor()
    expect(await page.getByRole('textbox').count()).toBe(0)
    expect(errors).toEqual([])
    await link.click()
    await page.getByText('Ann of the host').waitFor()
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByRole('dialog').getByLabel('Label').fill('laptop')
    await page.keyboard.press('Enter')
    await page
      .getByText(/sk-[\w]{43}/)
      .first()
      .waitFor()
    expect((await host.store.listTokens('host|ann')).map(({ label }) => label)).toContain('laptop')

    // Another visit of the same browser needs no login.
    await page.goto(`${host.url}/console`)
    await page.getByText('Ann of the host').waitFor()
    await context.clearCookies()
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('Your session has ended.').waitFor()
    expect(await link.getAttribute('href')).toBe('/login')
  })

  test('returns to that login after a logout', async () => {
    await using host = await openHost('/login')
    await using visiting = await visit(browser, host)
    const { page } = visiting
    const link = page.getByRole('link', { name: 'Log in' })
    await link.click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await link.waitFor()
    await page.reload()
    await link.waitFor()
  })

  test('shows its form too, where it has one', async () => {
    await using host = await openHost({ address: '/login', label: 'Log in with Corporate', form: true })
    await using visiting = await visit(browser, host)
    const { page } = visiting
    await page.getByLabel('Password').waitFor()
    await page.getByRole('button', { name: 'Log in' }).waitFor()
    await page.getByRole('link', { name: 'Log in with Corporate' }).click()
    await page.getByText('Ann of the host').waitFor()
  })
})
