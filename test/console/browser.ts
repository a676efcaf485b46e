import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { describeIf } from '../support/run-if.ts'
import { type Fixture, name, password } from './fixture.ts'

// Debian's build without windows: it costs half of the processor time of the whole browser, whose own pages it lacks.
const paths = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const path = process.env.CHROMIUM_PATH ?? paths.find((path) => existsSync(path)) ?? '/usr/bin/chromium'

/** Tests that need the browser. */
export const describeWithBrowser = describeIf(existsSync(path), `no browser at ${path}: CHROMIUM_PATH names another`)

const switches = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: path, headless: true, args: switches })

export const desktop = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }

/** A page with the console, and a record of its errors and requests. */
export interface Visit extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors in the browser's console, errors of scripts, and violations of the policy. */
  readonly errors: string[]
  /** Other hosts that the page sent requests to. */
  readonly hosts: Set<string>
}

const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"><defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="#f7b267"/><stop offset="1" stop-color="#f4845f"/></linearGradient></defs><rect width="400" height="300" fill="url(#s)"/><circle cx="285" cy="110" r="38" fill="#ffe8c7"/><path d="M0 220 90 130l70 65 60-45 180 120v30H0z" fill="#6d597a"/><path d="M0 260q100-30 200 0t200 0v40H0z" fill="#355070"/></svg>`

export const visit = async (
  browser: Browser,
  fixture: Pick<Fixture, 'url'> & { readonly mediaOrigin?: string },
  options: BrowserContextOptions = {},
): Promise<Visit> => {
  const context = await browser.newContext({ viewport: desktop, locale: 'en-GB', timezoneId: 'UTC', ...options })
  const errors: string[] = []
  const hosts = new Set<string>()
  // Other hosts store uploads. No request reaches them: every image is this picture.
  await context.route(
    (url) => ![fixture.url, fixture.mediaOrigin].includes(url.origin) && url.protocol.startsWith('http'),
    (route) => {
      hosts.add(new URL(route.request().url()).host)
      return route.request().resourceType() === 'image'
        ? route.fulfill({ contentType: 'image/svg+xml', body: picture })
        : route.fulfill({ status: 204 })
    },
  )
  await context.addInitScript({
    content: `addEventListener('securitypolicyviolation', (event) => {
      console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI)
    })`,
  })
  context.on('weberror', (error) => errors.push(String(error.error())))
  context.on('console', (message) => {
    // Before the login, the page asks for a session. The browser reports each response with such a status.
    if (/status of 401/.test(message.text()) && message.location().url.endsWith('/api/session')) return
    if (message.type() === 'error' || message.type() === 'warning')
      errors.push(`${message.text()} ${message.location().url}`)
  })
  const page = await context.newPage()
  // Shorter than the timeout of any test: when a test times out, the runner ends the browser, and all later tests fail.
  page.setDefaultTimeout(90_000)
  await page.goto(`${fixture.url}/console`)
  return { page, context, errors, hosts, [Symbol.asyncDispose]: () => context.close() }
}

export const login = async (page: Page, heading = 'Asset groups'): Promise<void> => {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}
