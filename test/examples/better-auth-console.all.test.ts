/** Runs with `--all`: a browser before the example. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startEmulator } from 'sluice/emulator'
import { ark } from 'sluice/upstream-proxy'
import { createHost } from '../../examples/better-auth.ts'
import { describeWithBrowser, openBrowser, visit } from '../console/browser.ts'
import { Browser } from './browser.ts'
import { serveHost } from './serve-host.ts'

setDefaultTimeout(300_000)

describeWithBrowser('better-auth: the console', () => {
  test('is used with the session of the host, from its login page to the logout', async () => {
    await using stack = new AsyncDisposableStack()
    const emulator = await startEmulator({ processingMs: 0 })
    stack.defer(emulator.stop)
    const host = await serveHost((publicUrl) => createHost(publicUrl, ark(emulator.ark), emulator.text))
    stack.defer(host.stop)
    const user = { name: 'Ann', email: 'ann@example.com', password: 'correct horse' }
    await new Browser(host.url).send('POST', '/api/auth/sign-up/email', user)
    const browser = await openBrowser()
    stack.defer(() => browser.close())
    const { page, errors } = await visit(browser, host)

    const link = page.getByRole('link', { name: 'Log in' })
    await link.click()
    await page.getByLabel('E-mail').fill(user.email)
    await page.getByLabel('Password').fill(user.password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('No groups yet').waitFor()
    await page.getByRole('button', { name: 'Create the first group' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('holidays')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'holidays' }).waitFor()
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByText('No usage in these days').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await link.waitFor()
    await page.reload()
    await link.waitFor()
    expect(errors).toEqual([])
  })
})
