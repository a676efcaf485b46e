/** Runs with `--all`: a browser uploads files to both kinds of upstream. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { openFixture } from './fixture.ts'
import { give, openMediaFixture, png } from './media-fixture.ts'

const openGroup = async (page: Page) => {
  await login(page)
  await page.getByRole('link', { name: 'holidays' }).click()
  await page.getByText('No assets yet').waitFor()
}

const choose = (page: Page, name: string, buffer: Buffer = png) =>
  page.locator('input[type=file]').setInputFiles([{ name, mimeType: 'image/png', buffer }])

setDefaultTimeout(300_000)

describeWithBrowser('a local file', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('that is dropped, pasted or chosen becomes an asset of the group, and is watched until it is active', async () => {
    await using fixture = await openMediaFixture({ emulator: { processingMs: 300 } })
    const group = await fixture.addGroup('holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openGroup(page)
    await give(page, 'drop', ['one.png', 'two.png', 'three.png', 'four.png', 'five.png'])
    await give(page, 'paste', ['pasted.png'])
    await choose(page, 'chosen.png')
    await page.getByText('7 assets', { exact: true }).waitFor()
    // The rows of the uploads leave when their assets are active.
    await page.locator('.uploads').waitFor({ state: 'detached' })
    expect(await page.locator('article .badge').allTextContents()).toEqual(Array(7).fill('Active'))
    const assets = fixture.emulator.library.assets()
    expect(assets.map(({ name }) => name).sort()).toEqual(['chosen', 'five', 'four', 'one', 'pasted', 'three', 'two'])
    expect(
      assets.every(
        ({ groupId, url }) => groupId === group && url.startsWith('https://files.example/api/files/uploads/up_'),
      ),
    ).toBe(true)
    expect(visiting.errors).toEqual([])
  })

  test('of 200 MB shows its progress, and goes on while the user is on another screen', async () => {
    const path = join(tmpdir(), `sluice-large-${process.pid}.mp4`)
    const file = await open(path, 'w')
    await file.write(Buffer.from('000000186674797069736f6d0000000069736f6d6d703432', 'hex'))
    await file.truncate(200 * 2 ** 20)
    await file.close()
    await using fixture = await openMediaFixture()
    await fixture.addGroup('holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    try {
      await openGroup(page)
      await page.locator('input[type=file]').setInputFiles(path)
      await page.getByText(/^[1-9][\d.]* MB of 209.7 MB$/).waitFor()
      const progress = page.getByRole('progressbar')
      expect(await progress.getAttribute('max')).toBe(String(200 * 2 ** 20))
      expect(Number(await progress.getAttribute('value'))).toBeGreaterThan(0)
      await page.getByRole('link', { name: 'Usage' }).click()
      await page.getByRole('status').getByText(': Active').waitFor()
      expect(fixture.emulator.library.assets().map(({ type }) => type)).toEqual(['Video'])
    } finally {
      await rm(path)
    }
    expect(visiting.errors).toEqual([])
  })

  test('that is cancelled is no longer sent, and becomes no asset', async () => {
    await using fixture = await openMediaFixture()
    await fixture.addGroup('holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openGroup(page)
    const held = Promise.withResolvers<void>()
    await page.route('**/api/uploads', async (route) => {
      await held.promise
      await route.continue().catch(() => {})
    })
    await choose(page, 'never.png')
    const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/uploads'))
    await page.getByRole('button', { name: 'Cancel the upload of never.png' }).click()
    await failed
    held.resolve()
    await page.locator('.uploads').waitFor({ state: 'detached' })
    await page.unroute('**/api/uploads')
    await choose(page, 'after.png')
    await page.getByRole('heading', { name: 'after' }).waitFor()
    expect(fixture.emulator.library.assets().map(({ name }) => name)).toEqual(['after'])
  })

  test('that the server rejects has an error in its words, with the name as text; the others go on', async () => {
    await using fixture = await openMediaFixture()
    await fixture.addGroup('holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openGroup(page)
    const markup = '<img src=x onerror=alert(1)>.png'
    await choose(page, markup, Buffer.from('no picture'))
    const row = page.locator('.uploads li')
    await row.getByRole('alert').getByText('the file is none of jpeg, png').waitFor()
    expect(await row.locator('.name').textContent()).toBe(markup)
    await choose(page, 'good.png')
    await page.getByRole('heading', { name: 'good' }).waitFor()
    await page.getByRole('button', { name: `Dismiss ${markup}` }).click()
    await page.locator('.uploads').waitFor({ state: 'detached' })
    expect(await page.locator('img[src=x]').count()).toBe(0)
  })

  test('whose asset was created without a response is not added twice by another try', async () => {
    await using fixture = await openMediaFixture()
    await fixture.addGroup('holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openGroup(page)
    let uploads = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/api/uploads')) uploads++
    })
    await page.route('**/proxy/assets', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch()
      await route.abort()
    })
    await choose(page, 'once.png')
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/proxy/assets')
    await page.getByRole('button', { name: 'Try again: once.png' }).click()
    await page.getByRole('heading', { name: 'once' }).waitFor()
    expect(fixture.emulator.library.assets().length).toBe(1)
    expect(uploads).toBe(1)
  })

  test('cannot be uploaded to a server without a storage, and the page says so', async () => {
    await using fixture = await openFixture()
    const { id } = fixture.emulator.library.addGroup({ name: 'holidays' })
    await fixture.store.adoptGroup({ id, user: fixture.user, type: 'AIGC', name: 'holidays', createdAt: Date.now() })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openGroup(page)
    await page.getByText('This server does not store files').waitFor()
    expect(await page.locator('input[type=file]').count()).toBe(0)
    await give(page, 'paste', ['ignored.png'])
    expect(await page.locator('.uploads').count()).toBe(0)
  })
})
