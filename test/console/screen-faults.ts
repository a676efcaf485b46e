import { test } from 'bun:test'
import type { BrowserContextOptions, Page, ViewportSize } from 'playwright-core'
import { desktop } from './browser.ts'
import { isOutlined } from './keyboard.ts'

/** A desktop at a zoom of 200 %: half as many CSS pixels. */
export const zoomed = { width: desktop.width / 2, height: desktop.height / 2 }
/** The narrowest screen of WCAG 2.2, 1.4.10. */
const narrow = { width: 320, height: 640 }

/** What is wider than the screen. A page scrolls in one direction only. */
export const tooWide = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(`(() => {
    const width = document.documentElement.clientWidth
    const dialog = document.querySelector('dialog[open]')
    const fits = ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth
    if (fits(document.documentElement) && (!dialog || (fits(dialog) && dialog.getBoundingClientRect().right <= width))) return []
    return [...(dialog ?? document.body).querySelectorAll('*')]
      .filter((element) => element.getBoundingClientRect().right > width + 1)
      .map((element) => element.outerHTML.slice(0, 120))
  })()`)

/** The current tabs that are outside of the box in which tabs scroll. */
export const hiddenTabs = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('main .tabs [aria-current]')].filter((tab) => {
    const [inner, outer] = [tab.getBoundingClientRect(), tab.parentElement.getBoundingClientRect()]
    return inner.left < outer.left - 1 || inner.right > outer.right + 1
  }).map((tab) => tab.outerHTML + ' is not in view')`)

/** An element that had the focus: its number, its words, what hides all of it, and whether its outline was visible. */
interface Stop {
  readonly stop?: string
  readonly words: string
  readonly coveredBy?: string
  readonly isOutlined: boolean
}

/** The element with the focus, as a `Stop`. */
const currentStop = `() => {
  const { activeElement: element } = document
  const box = element.getBoundingClientRect()
  const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)]
  const x = Math.min(innerWidth - 1, Math.max(0, box.left + 4))
  const covers = [1, 3, 5, 7, 9].map((tenth) => {
    const at = document.elementFromPoint(x, top + ((bottom - top) * tenth) / 10)
    for (let over = at; over; over = over.parentElement)
      if (['fixed', 'sticky'].includes(getComputedStyle(over).position) && !over.contains(element) && !element.contains(over)) return over
  })
  return {
    stop: element.dataset.stop,
    words: (element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent).trim().slice(0, 60),
    coveredBy: bottom <= top ? 'the end of the screen' : covers.every((over) => over) ? covers[0].outerHTML.slice(0, 80) : undefined,
    isOutlined: ${isOutlined}(element),
  }
}`

/** Lets the page itself record what has the focus, when the next key is pressed: to ask it after each key takes twice as long. */
const recordStops = `() => {
  if (!window.stops) addEventListener('keydown', () => window.stops.push((${currentStop})()), true)
  window.stops = []
}`

/** The records since the last time, and what has the focus now. */
const takeStops = `[...window.stops.splice(0), (${currentStop})()]`

/** Numbers what Tab must reach, of the open dialog or the whole page, and returns how much that is. Radio buttons of a group are one stop. */
const markStops = `(() => {
  const groups = new Set()
  let stops = 0
  for (const element of document.querySelectorAll('[data-stop]')) delete element.dataset.stop
  for (const element of (document.querySelector('dialog[open]') ?? document).querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')) {
    if (element.tabIndex < 0 || element.disabled || !element.checkVisibility({ visibilityProperty: true })) continue
    if (element.type === 'radio') {
      if (groups.has(element.name) || !(element.checked || ![...document.getElementsByName(element.name)].some((one) => one.checked))) continue
      groups.add(element.name)
    }
    element.dataset.stop = stops++
  }
  document.activeElement.blur()
  ;(${recordStops})()
  return stops
})()`

/** Presses Tab until everything had the focus, visibly. Returns what did not. */
export const unreached = async (page: Page): Promise<readonly string[]> => {
  const stops = await page.evaluate<number>(markStops)
  const left = new Set(Array.from({ length: stops }, (_, stop) => String(stop)))
  const faults: string[] = []
  const most = 2 * stops + 20
  for (let presses = 0; presses < most && left.size > 0; ) {
    for (const round = Math.min(presses + left.size, most); presses < round; presses++) await page.keyboard.press('Tab')
    for (const { stop, words, coveredBy, isOutlined } of await page.evaluate<Stop[]>(takeStops)) {
      if (stop === undefined || !left.delete(stop)) continue
      if (!isOutlined) faults.push(`${words} has no outline`)
      if (coveredBy) faults.push(`${words} is behind ${coveredBy}`)
    }
  }
  const names = await page.evaluate<string[]>(
    `${JSON.stringify([...left])}.map((stop) => document.querySelector('[data-stop="' + stop + '"]')?.outerHTML.slice(0, 120) ?? '')`,
  )
  return [...faults, ...names.filter((name) => name !== '').map((name) => `not reached: ${name}`)]
}

/** A size of the screen and a theme. */
export interface Look {
  readonly title: string
  readonly viewport: ViewportSize
  readonly colorScheme: 'light' | 'dark'
}

/**
 * The looks that a screen has one after the other in one visit: its layout follows the size by style sheets and observers. It opens in the first one, so that is
 * one with little room.
 */
export type Looks = readonly [Look, ...Look[]]

/** The looks of every screen in each language. */
export const looks: Readonly<Record<'en-GB' | 'zh-CN', Looks>> = {
  'en-GB': [
    { title: 'on 320 pixels, in dark colours', viewport: narrow, colorScheme: 'dark' },
    { title: 'on a desktop, in light colours', viewport: desktop, colorScheme: 'light' },
  ],
  'zh-CN': [
    { title: 'at a zoom of 200 %, in light colours', viewport: zoomed, colorScheme: 'light' },
    { title: 'on a desktop, in dark colours', viewport: desktop, colorScheme: 'dark' },
  ],
}

/** Gives the page another look, and waits until it is painted. */
export const take = async (page: Page, { viewport, colorScheme }: Look): Promise<void> => {
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme })
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

/** What `find` finds on the page in each of the looks. The page then has the first one again. */
export const findInLooks = async (
  page: Page,
  [first, ...others]: Looks,
  find: () => Promise<readonly string[]>,
): Promise<string[]> => {
  const found: string[] = []
  for (const look of [first, ...others]) {
    await take(page, look)
    found.push(...(await find()).map((fault) => `${look.title}: ${fault}`))
  }
  await take(page, first)
  return found
}

/** What a page is searched for in one language, in each of its looks. */
export interface LookFaults {
  readonly locale: 'en-GB' | 'zh-CN'
  /** Those of a browser that shows the first look, in which axe can run. */
  readonly options: BrowserContextOptions
  /** What `find` finds, and what the keyboard does not reach. */
  of(page: Page, find: () => Promise<readonly string[]>): Promise<readonly string[]>
}

/** Declares a test in each language, whose title says the looks. */
export const testInLooks = (body: (faults: LookFaults) => Promise<void>): void => {
  for (const locale of ['en-GB', 'zh-CN'] as const) {
    // Keys are the same in each language.
    const hasKeys = locale === 'en-GB'
    const titles = looks[locale].map(({ title }) => title).join('; ')
    const { viewport, colorScheme } = looks[locale][0]
    test(`is accessible and fits${hasKeys ? ', and is used by keyboard alone' : ''}, in ${locale}: ${titles}`, () =>
      body({
        locale,
        // The script of axe must bypass the content security policy.
        options: { viewport, colorScheme, locale, bypassCSP: true },
        async of(page, find) {
          const found = await findInLooks(page, looks[locale], find)
          return hasKeys ? [...found, ...(await findInLooks(page, looks[locale], () => unreached(page)))] : found
        },
      }))
  }
}
