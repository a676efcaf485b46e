import { createHash, randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import type { AdminFixture } from './admin/fixture.ts'
import { openScreen, walkScreens } from './every-screen.ts'

/** A screen without a dialog. */
const elsewhere = '#/tokens/connect'

/** Buttons that may open a dialog, with a name for each, which the buttons of a list have in common. */
const findButtons = `(() => {
  const names = new Map()
  for (const [place, button] of [...document.querySelectorAll('main button')].entries()) {
    if (!button.checkVisibility() || button.disabled || button.type === 'submit') continue
    // Those of each row of a list open the same dialog.
    const name = [button.className, button.textContent.trim()].join(' | ')
    if (!names.has(name)) names.set(name, place)
  }
  return [...names]
})()`

const isOpen = `document.querySelector('dialog[open]') !== null`

const markScreen = `window.screenBefore = location.hash + document.body.innerHTML`
const isUnchanged = `window.screenBefore === location.hash + document.body.innerHTML`

/** Waits until the page has done what a button asked for. */
const rested = `new Promise((done) => {
  let quiet = 0
  const look = () => {
    const isBusy = document.querySelector('.loading, [aria-busy=true], .skeleton')
    quiet = isBusy ? 0 : quiet + 1
    if (quiet > 6) done()
    else requestAnimationFrame(look)
  }
  look()
})`

/**
 * Opens each dialog that a button of the present screen opens. Returns the titles.
 * @param isNew whether a button has to be pressed: those of other screens may open the same dialog
 */
export const openDialogs = async (
  page: Page,
  isNew: (button: string) => boolean,
  check: (title: string) => Promise<void>,
): Promise<readonly string[]> => {
  const titles: string[] = []
  const hash = await page.evaluate<string>('location.hash')
  for (const [name, place] of await page.evaluate<[string, number][]>(findButtons)) {
    if (!isNew(name)) continue
    await page.evaluate(markScreen)
    await page.evaluate(`document.querySelectorAll('main button')[${place}]?.click()`)
    await page.evaluate(rested)
    if (await page.evaluate<boolean>(isOpen)) {
      const title = await page.evaluate<string>(`document.querySelector('dialog[open] h2').textContent`)
      // No rule of axe looks for the name of a `dialog`.
      if ((await page.getByRole('dialog', { name: title, exact: true }).count()) !== 1)
        throw new Error(`the dialog ${title} has no name`)
      titles.push(title)
      await check(title)
    }
    if (await page.evaluate<boolean>(isUnchanged)) continue
    // The button may have led to another screen, or changed this one.
    await openScreen(page, hash === elsewhere ? '#/account' : elsewhere)
    await openScreen(page, hash)
  }
  return titles
}

/** Opens every dialog of every screen. Returns the titles. */
export const walkDialogs = async (page: Page, check: (dialog: string) => Promise<void>): Promise<readonly string[]> => {
  const pressed = new Set<string>()
  const titles: string[] = []
  await walkScreens(page, async (route) => {
    const isNew = (button: string) => {
      const key = `${route}: ${button}`
      const isFirst = !pressed.has(key)
      pressed.add(key)
      return isFirst
    }
    titles.push(...(await openDialogs(page, isNew, (title) => check(`${route}, ${title}`))))
  })
  return titles
}

/** A link with which its holder sets a password. */
export const inviteTo = async ({ store, url }: AdminFixture, name: string): Promise<string> => {
  const secret = randomBytes(32).toString('base64url')
  const createdAt = Date.now()
  const added = await store.addAdminUser({
    ...{ name, createdAt },
    invitation: {
      hash: createHash('sha256').update(secret).digest('hex'),
      createdAt,
      expiresAt: createdAt + 3_600_000,
    },
  })
  if (typeof added === 'string') throw new Error(added)
  return `${url}/console#/invitation/${secret}`
}
