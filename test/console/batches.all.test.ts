/** Runs with `--all`: in a browser, many assets are added to a group at once. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { submit } from './admin/fixture.ts'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { give, openMediaFixture } from './media-fixture.ts'

setDefaultTimeout(300_000)

describeWithBrowser('a batch of assets', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('is made of pasted addresses, whose wrong lines are named before; it has a progress and the outcome of each', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByRole('button', { name: 'Add asset' }).click()
    await page.getByRole('link', { name: 'Add many at once' }).click()
    await page
      .getByLabel('Addresses, one in each line')
      .fill('https://files.example/a.png sea\n\nno address\nhttps://b.example/ sea')
    await page.getByText('Line 3 does not begin with an address').waitFor()
    await page.getByText('Line 4 has the name of an earlier line.').waitFor()
    await page.getByRole('button', { name: 'Add them' }).click()
    await page.getByRole('alert').getByText('Correct the lines first.').waitFor()
    // The upstream takes no http address.
    await page
      .getByLabel('Addresses, one in each line')
      .fill(
        'https://files.example/a.png sea\nhttps://files.example/clip.mp4\nhttps://other.example/clip.mp4\nhttp://files.example/no.png',
      )
    await page.getByText('4 assets will be added').waitFor()
    await page.getByRole('button', { name: 'Add them' }).click()
    await page.getByRole('heading', { level: 1, name: 'Batch of 4 assets' }).waitFor()
    await page.getByText('4 of 4 done').waitFor()
    const items = page.locator('.batch-items > li')
    await items.filter({ hasText: 'Failed' }).getByText('What was reported').waitFor()
    const shown = await Promise.all(['.name', '.badge'].map((part) => items.locator(part).allTextContents()))
    expect(shown).toEqual([
      ['sea', 'clip', 'clip 2', 'no'],
      ['Added', 'Added', 'Added', 'Failed'],
    ])
    const assets = fixture.emulator.library.assets()
    expect(assets.map(({ name, type, groupId }) => [name, type, groupId === group])).toEqual([
      ['sea', 'Image', true],
      ['clip', 'Video', true],
      ['clip 2', 'Video', true],
    ])
    await page.getByLabel('Outcome').selectOption('Failed (1)')
    await items.filter({ hasText: 'Added' }).first().waitFor({ state: 'detached' })
    expect(await items.locator('.name').allTextContents()).toEqual(['no'])
    await page.getByLabel('Outcome').selectOption('Any outcome')
    await page.getByRole('link', { name: 'sea' }).click()
    await page.getByRole('heading', { level: 1, name: 'sea' }).waitFor()
    expect(visiting.errors).toEqual([])
  })

  test('has failed items, which are tried again: one, or all of them', async () => {
    await using fixture = await openMediaFixture()
    await fixture.addGroup('holidays')
    fixture.emulator.faults.add({ kind: 'status', status: 400, action: 'CreateAsset', times: 3 })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Batches' }).click()
    await page.getByRole('link', { name: 'New batch' }).first().click()
    const addresses = ['one', 'two', 'three'].map((name) => `https://files.example/${name}.png ${name}`)
    await page.getByLabel('Addresses, one in each line').fill(addresses.join('\n'))
    await page.getByRole('button', { name: 'Add them' }).click()
    const badges = page.locator('.batch-items .badge')
    const outcomes = async (...wanted: readonly string[]) => {
      while (String(await badges.allTextContents()) !== String(wanted)) await Bun.sleep(50)
    }
    await outcomes('Failed', 'Failed', 'Failed')
    await page.getByRole('button', { name: 'Try again: two' }).click()
    await outcomes('Failed', 'Added', 'Failed')
    await page.getByRole('button', { name: 'Try the failed ones again' }).click()
    await outcomes('Added', 'Added', 'Added')
    expect(await page.getByRole('button', { name: /again/ }).count()).toBe(0)
    expect(
      fixture.emulator.library
        .assets()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['one', 'three', 'two'])
    expect(visiting.errors).toEqual([])
  })

  test('that is cancelled adds nothing more', async () => {
    await using fixture = await openMediaFixture()
    await fixture.addGroup('holidays')
    const held = fixture.emulator.faults.add({ kind: 'hold', action: 'CreateAsset', when: 'after' })
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await login(page)
    await page.getByRole('link', { name: 'Batches' }).click()
    await page.getByText('No batches yet').waitFor()
    await page.getByRole('link', { name: 'New batch' }).first().click()
    const addresses = Array.from({ length: 5 }, (_, nth) => `https://files.example/${nth}.png`)
    await page.getByLabel('Addresses, one in each line').fill(addresses.join('\n'))
    await page.getByRole('button', { name: 'Add them' }).click()
    await page.locator('.batch-items').getByText('Being added').waitFor()
    await page.getByRole('button', { name: 'Cancel the batch' }).click()
    await page.getByText('The 4 assets that wait will not be added.').waitFor()
    await submit(page, 'Cancel the batch')
    held.release()
    await page.getByText('5 of 5 done').waitFor()
    expect((await page.locator('.batch-items .badge').allTextContents()).sort()).toEqual([
      ...['Added', 'Cancelled', 'Cancelled', 'Cancelled', 'Cancelled'],
    ])
    expect(fixture.emulator.library.assets().length).toBe(1)
    await page.getByRole('main').getByRole('link', { name: 'Batches' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Batch of 5 assets' }).getByText('holidays').waitFor()
    expect(visiting.errors).toEqual([])
  })

  test('is made of many files that are dropped; those of one name get names of their own', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const creations: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/proxy/assets')) creations.push(request.url())
    })
    await login(page)
    await page.getByRole('link', { name: 'holidays' }).click()
    await page.getByText('No assets yet').waitFor()
    // The first try to create the batch has no answer.
    await page.route('**/assets/batches?*', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await give(page, 'drop', [...Array.from({ length: 11 }, (_, nth) => `${nth}.png`), '1.jpg'])
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/assets/batches?*')
    await page.getByRole('button', { name: 'Try again: 12 files' }).click()
    await page.getByText('12 of 12 added to the group').waitFor()
    await page.getByText('12 assets', { exact: true }).waitFor()
    const assets = fixture.emulator.library.assets()
    expect(assets.map(({ name }) => name).sort()).toEqual(
      [...Array.from({ length: 11 }, (_, nth) => String(nth)), '1 2'].sort(),
    )
    expect(assets.every(({ groupId }) => groupId === group)).toBe(true)
    expect(creations.length).toBe(2)
    await page.getByRole('button', { name: 'Dismiss 12 files' }).click()
    await page.locator('.uploads').waitFor({ state: 'detached' })
  })
})
