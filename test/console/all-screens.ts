import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page, ViewportSize } from 'playwright-core'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { describeWithBrowser, desktop, login, openBrowser, phone, visit } from './browser.ts'
import { name, password } from './fixture.ts'

const createGroup = async (page: Page) => {
  await page.getByRole('button', { name: 'New group' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('holidays')
  await dialog.getByLabel('Description').fill('Beach and mountains')
  await dialog.getByRole('button', { name: 'New group' }).click()
  await page.getByRole('heading', { level: 1, name: 'holidays' }).waitFor()
}

const addAsset = async (page: Page, address: string, name: string) => {
  await page.getByRole('button', { name: 'Add asset' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address of the file').fill(address)
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Add asset' }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Opens the vendor's page on a phone, presses a button, and returns the heading of the callback page that follows. */
const checkFace = async (browser: Browser, link: string, button: string): Promise<string> => {
  const context = await browser.newContext({ viewport: phone, hasTouch: true, locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('button', { name: button }).click()
  await page.waitForURL(/\/face-verifications\/callback\//)
  const heading = (await page.getByRole('heading').textContent()) ?? ''
  await context.close()
  return heading
}

/** Whether the page is not wider than the screen. */
const fits = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth')

/** Declares the walk of one user through all screens, once for each size of the screen. */
export const describeWalk = (sizes: Readonly<Record<string, ViewportSize>>): void =>
  describeWithBrowser('a user goes through all screens of the default server', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser()
    }, 300_000)
    afterAll(() => browser?.close())

    for (const [size, viewport] of Object.entries(sizes)) {
      test.concurrent(
        `on ${size}, without an error or a request to an unexpected host`,
        () => walk(browser, viewport),
        300_000,
      )
    }
  })

const walk = async (browser: Browser, viewport: ViewportSize): Promise<void> => {
  await using fixture = await openServerFixture('sqlite', { processingMs: 1_500, text: { msPerDelta: 15 } })
  const { emulator, store } = fixture
  const server = await fixture.start({
    MEDIA_UPSTREAM_KIND: 'ark',
    MEDIA_UPSTREAM_URL: emulator.ark.url,
    MEDIA_UPSTREAM_ACCESS_KEY: emulator.ark.accessKey,
    MEDIA_UPSTREAM_SECRET_KEY: emulator.ark.secretKey,
    TEXT_UPSTREAM_URL: emulator.text.url,
    TEXT_UPSTREAM_KEY: emulator.text.key,
    MEDIA_UPSTREAM_LIMITS: '{}',
    VIDEO_UPSTREAM_URL: emulator.video.url,
    VIDEO_UPSTREAM_KEY: emulator.video.key,
  })
  const user = (await store.addUser({ name, password: await hashPassword(password), createdAt: Date.now() })) ?? ''
  const served = { url: server.url, mediaOrigin: emulator.origin }
  await using visiting = await visit(browser, served, { viewport, hasTouch: viewport !== desktop })
  const { page, context } = visiting
  await login(page)

  // A new token, shown once.
  await page.getByRole('link', { name: 'Tokens' }).click()
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Label').fill('laptop')
  await page.getByRole('dialog').getByRole('button', { name: 'New token' }).click()
  const token = (await page.locator('.secret').textContent()) ?? ''
  expect(token).toMatch(/^sk-\w{43}$/)
  const models = () => fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })
  expect((await models()).status).toBe(200)
  await page.getByRole('button', { name: 'Done' }).click()
  expect(await page.locator('main').textContent()).not.toContain(token)
  expect(await fits(page)).toBe(true)

  // A webhook, whose secret is shown once.
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText('No webhooks yet').waitFor()
  await page.getByRole('button', { name: 'New webhook' }).click()
  await page.getByLabel('Address').fill('https://hooks.example/sluice')
  await page.getByLabel('Face checks').uncheck()
  await page.getByRole('dialog').getByRole('button', { name: 'New webhook' }).click()
  const secret = (await page.locator('.secret').textContent()) ?? ''
  expect(secret).toMatch(/^whsec_/)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.locator('.rows').getByText('Videos, Assets').waitFor()
  expect(await page.locator('body').textContent()).not.toContain(secret)
  expect(await fits(page)).toBe(true)
  await page.getByRole('button', { name: 'Delete https://hooks.example/sluice' }).click()
  await page.getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByText('No webhooks yet').waitFor()

  // A group, and an asset in it that becomes active without an action of the user.
  await page.getByRole('link', { name: 'Assets' }).click()
  await page.getByText('No groups yet').waitFor()
  await createGroup(page)
  await page.getByText('No assets yet').waitFor()
  await addAsset(page, 'https://files.example/beach.png', 'beach')
  await page.locator('article').getByText('Processing').waitFor()
  await page.locator('article').getByText('Active').waitFor()
  await page.getByRole('img', { name: 'beach' }).waitFor()
  await addAsset(page, 'https://files.example/clip.mp4', 'clip')
  expect(await page.locator('article').first().getByText('Video').count()).toBe(1)
  expect(await fits(page)).toBe(true)

  // A video of the asset, which is played.
  await page.getByRole('link', { name: 'Videos' }).click()
  await page.getByRole('link', { name: 'New video' }).click()
  await page.getByLabel('Model').fill('doubao-seedance-2-0-260128')
  await page.getByLabel('Prompt').fill('Waves on the beach')
  await page.getByLabel('A first frame').check()
  await page.getByRole('button', { name: 'Choose: First frame' }).click()
  await page.getByRole('radio', { name: 'beach' }).check()
  await page.getByRole('button', { name: 'Use', exact: true }).click()
  expect(await fits(page)).toBe(true)
  await page.getByRole('button', { name: 'Make the video' }).click()
  await page.locator('video.player').waitFor()
  const seconds = await page.locator('video.player').evaluate(
    (video) =>
      new Promise<number>((resolve) => {
        const player = video as unknown as { duration: number; addEventListener(type: string, run: () => void): void }
        if (player.duration > 1) resolve(player.duration)
        else player.addEventListener('loadedmetadata', () => resolve(player.duration))
      }),
  )
  expect(seconds).toBeGreaterThan(1)
  await page.getByRole('img', { name: /^Last frame/ }).waitFor()
  expect(await fits(page)).toBe(true)
  await page.getByRole('link', { name: 'Assets' }).click()
  await page.getByRole('link', { name: 'holidays' }).click()
  await page.getByRole('heading', { name: 'beach' }).waitFor()

  // Rename, filter, delete.
  await page.getByRole('button', { name: 'Rename beach' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('coast')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'coast' }).waitFor()
  await page.getByLabel('Find by name').fill('OAS')
  await page.getByText('1 asset', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Delete coast' }).click()
  await page.getByRole('button', { name: 'Delete asset' }).click()
  await page.getByText('Nothing matches the filters').waitFor()
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await page.getByRole('heading', { name: 'clip' }).waitFor()

  // A face check on the vendor's page, and an asset in its group.
  await page.getByRole('link', { name: 'Face check' }).click()
  await page.getByRole('button', { name: 'Start face check' }).click()
  await page.getByRole('img', { name: /QR code/ }).waitFor()
  expect(await page.getByRole('timer').textContent()).toMatch(/^(?:30:00|29:5\d)$/)
  const link = (await page.getByRole('link', { name: 'Open on this device' }).getAttribute('href')) ?? ''
  expect(link.startsWith(`${emulator.origin}/h5/`)).toBe(true)
  expect(await fits(page)).toBe(true)
  expect(await checkFace(browser, link, 'Succeed')).toMatch(/verified|received/i)
  await page.getByRole('link', { name: 'Add assets' }).click()
  const face = emulator.library.groups().find(({ type }) => type === 'LivenessFace')
  await page.getByRole('heading', { level: 1, name: face?.name ?? 'none' }).waitFor()
  await page.getByText('No assets yet').waitFor()
  await addAsset(page, 'https://files.example/portrait.png', 'portrait')
  await page.locator('article').getByText('Active').waitFor()
  expect(emulator.library.groups().map(({ type }) => type)).toEqual(['AIGC', 'LivenessFace'])

  // A chat with a streamed answer.
  await page.getByRole('link', { name: 'Chat' }).click()
  await page.getByLabel('Question').fill('Say something about harbours.')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Stop the answer' }).waitFor()
  await page.locator('.turn.assistant .markdown').waitFor()
  const early = (await page.locator('.turn.assistant .markdown').textContent()) ?? ''
  await page.getByText(/tokens in, \d+ tokens out/).waitFor()
  const late = (await page.locator('.turn.assistant .markdown').textContent()) ?? ''
  expect(late.startsWith(early) && early.length < late.length).toBe(true)
  expect(await fits(page)).toBe(true)

  // The usage.
  await page.getByRole('link', { name: 'Usage' }).click()
  const details = page.getByRole('region', { name: 'Usage of text and videos' })
  await page.getByRole('button', { name: 'By API token' }).click()
  await details.getByText('console').first().waitFor()
  await page.getByRole('button', { name: 'By model' }).click()
  expect(await details.getByRole('columnheader').allTextContents()).toEqual([
    ...['Model', 'Calls', 'Input', 'Output', 'Seconds of video'],
  ])
  expect(await fits(page)).toBe(true)

  // After the logout the console's own token is revoked, the user's token is not.
  const cookies = await context.cookies()
  expect(cookies.map((cookie) => [cookie.name, cookie.httpOnly, cookie.sameSite]).sort()).toEqual([
    ['session', true, 'Lax'],
    ['session-device', true, 'Lax'],
  ])
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  const tokens = await store.listTokens(user)
  expect(tokens.map(({ label, revokedAt }) => [label === 'laptop', revokedAt !== undefined])).toEqual(
    tokens.map(({ label }) => [label === 'laptop', label !== 'laptop']),
  )
  expect((await models()).status).toBe(200)
  expect(visiting.errors).toEqual([])
  // The host where the upstream stores the uploads.
  expect([...visiting.hosts]).toEqual(['ark-media-asset.tos-cn-beijing.volces.com'])
}
