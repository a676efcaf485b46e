import { afterAll, beforeAll } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { type AdminFixture, addUsers, openAdminFixture } from './admin/fixture.ts'
import { describeWithBrowser, openBrowser } from './browser.ts'

/** Every screen of the console, by its route. `*` is an id. */
export const screens = [
  ...[
    'groups',
    'groups/AIGC',
    'groups/LivenessFace',
    'groups/all',
    'groups/shared',
    'groups/AIGC/*',
    'groups/LivenessFace/*',
    'asset/*',
  ],
  ...['shares/*', 'consents/*', 'batches', 'batches/*', 'batches/new'],
  ...['videos', 'videos/new', 'videos/*', 'face', 'chat', 'usage', 'account'],
  ...['tokens', 'tokens/connect', 'tokens/webhooks'],
  ...['admin', 'admin/overview', 'admin/users', 'admin/users/*', 'admin/teams', 'admin/tokens', 'admin/usage'],
  ...['admin/audit', 'admin/decisions', 'admin/decisions/groups', 'admin/decisions/videos'],
  ...['admin/decisions/batches', 'admin/settings'],
  ...['admin/consents', 'admin/consents/*'],
]

/** Screens of what is not there, which no link leads to. */
export const missing = [
  ...['batches/batch-20260101000000-abcde', 'shares/group-20260101000000-abcde', 'consents/group-20260101000000-abcde'],
  ...['groups/AIGC/group-20260101000000-abcde', 'asset/asset-20260101000000-abcde', 'videos/cgt-20260101000000-abcde'],
  ...['batches/new/AIGC/group-20260101000000-abcde', 'admin/users/nobody'],
  'admin/consents/group-20260101000000-abcde',
  ...['shares', 'nothing', 'admin/nothing'],
]

/** The route of an address, without its ids and filters. */
export const routeOf = (hash: string): string =>
  decodeURIComponent(hash.replace(/^#\//, '').split('?')[0] ?? '')
    .split('/')
    .map((part) => (/\d{5}|^[\da-f]{8}-|^batch-/.test(part) ? '*' : part))
    .join('/')

const page = join(import.meta.dir, '../../plugins/console/page')

/** The names in the page's list of screens, and those of the operators' screens. */
export const screenNames = (): { readonly all: readonly string[]; readonly admin: readonly string[] } => {
  const frame = readFileSync(join(page, 'frame/screens.js'), 'utf8')
  const [, sections = ''] =
    /^const sections = \[(.*)\]$/m.exec(readFileSync(join(page, 'admin/admin.js'), 'utf8')) ?? []
  return {
    all: [...frame.matchAll(/^ {2}(\w+): async \(\) =>/gm)].map(([, name = '']) => name),
    admin: [...sections.matchAll(/'(\w+)'/g)].map(([, name = '']) => name),
  }
}

const longName = 'a-name-without-a-break-'.repeat(3).slice(0, 64)
const limits = JSON.stringify([{ unit: 'tokens', amount: 100_000_000, window: 'day' }])

/** A default server whose admin ann has something on every screen. */
const openEveryScreen = async (): Promise<AdminFixture> => {
  const fixture = await openAdminFixture(
    ({ ark }) => ({
      MEDIA_UPSTREAM_KIND: 'ark',
      MEDIA_UPSTREAM_URL: ark.url,
      MEDIA_UPSTREAM_ACCESS_KEY: ark.accessKey,
      MEDIA_UPSTREAM_SECRET_KEY: ark.secretKey,
      MEDIA_UPSTREAM_LIMITS: '{"ListAssets":100}',
      VIDEO_SLOTS: '{"*":2}',
      USER_LIMITS: limits,
    }),
    { processingMs: Number.POSITIVE_INFINITY, video: { queuedMs: 0, runningMs: Number.POSITIVE_INFINITY } },
  )
  await fillLibrary(fixture)
  await fillReports(fixture)
  await fillVideos(fixture)
  await fillLent(fixture)
  return fixture
}

/** What tests of all screens share, from the first of them on. */
export interface EveryScreen {
  readonly browser: Browser
  readonly fixture: AdminFixture
}

/** Declares tests with one browser and one server whose admin has something on every screen. */
export const describeEveryScreen = (title: string, declare: (shared: () => EveryScreen) => void): void =>
  describeWithBrowser(title, () => {
    let browser: Browser
    let fixture: AdminFixture
    beforeAll(async () => {
      browser = await openBrowser()
      fixture = await openEveryScreen()
    })
    afterAll(async () => {
      await fixture?.[Symbol.asyncDispose]()
      await browser?.close()
    })
    declare(() => ({ browser, fixture }))
  })

const fillLibrary = async ({ store, emulator, admin }: AdminFixture): Promise<void> => {
  for (const [type, name] of [
    ['AIGC', 'holidays'],
    ['AIGC', longName],
    ['LivenessFace', 'a face'],
  ] as const) {
    const { id } = emulator.library.addGroup({ type, name, description: 'Beach and mountains' })
    await store.adoptGroup({ id, user: admin.id, type, name, createdAt: Date.now() })
    for (const [name, status] of [
      ['beach', 'Active'],
      [longName, 'Processing'],
      ['refused', 'Failed'],
    ] as const) {
      const error = { code: 'FaceMismatch', message: 'The face does not match.' }
      emulator.library.addAsset({ groupId: id, name, status, ...(status === 'Failed' && { error }) })
    }
  }
}

const fillReports = async (fixture: AdminFixture): Promise<void> => {
  const { store, admin } = fixture
  const now = Date.now()
  const team = await store.addTeam({ name: longName, createdAt: now, limits })
  if (typeof team === 'string') throw new Error(team)
  await addUsers(fixture, 3, (number) => ({ name: `${number}-${longName}`.slice(0, 64), team: team.id }))
  await store.addUserToken(admin.id, {
    ...{ hash: 'a'.repeat(64), start: 'sk-abcdef', label: longName, scopes: ['text', 'video'], models: ['m-*'] },
    ...{ limits, createdAt: now, expiresAt: now + 1e9 },
  })
  for (let model = 0; model < 5; model++)
    store.recordUsage({
      ...{ user: admin.id, token: undefined, model: `model-${model}-${longName}`, at: now, cost: 1e9 * model },
      tokens: { input: 10_000, cachedInput: 0, output: 2_000, reasoning: 0 },
    })
  await store.flushUsage()
  await store.claim({ user: admin.id, type: 'AIGC', name: 'cats', createdAt: now, dueAt: now + 1e9 })
}

const fillVideos = async ({ store, emulator, admin, url }: AdminFixture): Promise<void> => {
  const token = createToken()
  await store.addToken({ user: admin.id, hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() })
  for (const [nth, prompt] of ['Waves on the beach', 'A song', 'A cat'].entries()) {
    const created = await fetch(`${url}/api/v3/contents/generations/tasks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'doubao-seedance-2-5-260628', content: [{ type: 'text', text: prompt }] }),
    })
    if (!created.ok) throw new Error(await created.text())
    // The third one waits for a slot.
    const task = emulator.video.tasks()[nth]
    if (nth === 0 && task) emulator.video.finish(task.id)
  }
}

/** A batch with an item that fails, and a group that a colleague lends. */
const fillLent = async (fixture: AdminFixture): Promise<void> => {
  const { store, emulator, admin, url } = fixture
  const token = createToken()
  await store.addToken({ user: admin.id, hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() })
  const group = emulator.library.groups()[0]?.id ?? ''
  const lines = ['http://files.example/refused.png', 'https://files.example/added.png'].map((URL, nth) =>
    JSON.stringify({ URL, AssetType: 'Image', Name: `${nth}-${longName}`.slice(0, 64) }),
  )
  const created = await fetch(`${url}/api/media/proxy/assets/batches?GroupId=${group}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body: lines.join('\n'),
  })
  if (!created.ok) throw new Error(await created.text())
  const [colleague] = await addUsers(fixture, 1, () => ({ name: 'colleague' }))
  const lend = async (group: { id: string; user: string }, user: string) => {
    const more = { access: 'use', expiresAt: Date.now() + 1e9, isKnown: true, now: Date.now() } as const
    const share = await store.lendGroup({ group, borrower: { user }, ...more })
    if (typeof share === 'string') throw new Error(share)
  }
  for (const { id } of emulator.library.groups()) await lend({ id, user: admin.id }, colleague?.id ?? '')
  const { id } = emulator.library.addGroup({ name: longName, description: 'Beach and mountains' })
  const lent = { id, user: colleague?.id ?? '', type: 'AIGC', name: longName, createdAt: Date.now() } as const
  await store.adoptGroup(lent)
  await lend(lent, admin.id)
}

/** Waits until the page shows what it has loaded, in two frames that follow each other. */
const settled = `new Promise((done) => {
  let quiet = 0
  const look = () => {
    const isBusy = document.querySelector('main .loading, main [aria-busy=true], main .skeleton')
    quiet = document.querySelector('main h1') && !isBusy ? quiet + 1 : 0
    if (quiet > 10) done()
    else requestAnimationFrame(look)
  }
  look()
})`

/** Opens a screen by its address, and waits until it has loaded. */
export const openScreen = async (page: Page, hash: string): Promise<void> => {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await page.evaluate(settled)
}

/** Opens every screen that links lead to, one of each route, and those of what is missing. Returns the routes. */
export const walkScreens = async (page: Page, check: (route: string) => Promise<void>): Promise<readonly string[]> => {
  const seen = new Set(['groups'])
  const waiting = ['#/groups']
  for (let hash = waiting.shift(); hash !== undefined; hash = waiting.shift()) {
    await openScreen(page, hash)
    await check(routeOf(hash))
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href^="#/"]')].map((link) => link.getAttribute('href'))`,
    )
    for (const link of links) {
      if (seen.has(routeOf(link))) continue
      seen.add(routeOf(link))
      waiting.push(link)
    }
  }
  for (const address of missing) {
    await openScreen(page, `#/${address}`)
    await check(address)
  }
  return [...seen]
}
