import { expect } from 'bun:test'
import type { Page } from 'playwright-core'

/** The element with the focus: its tag name and its label. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const { activeElement: element } = document
    const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
    return element.tagName.toLowerCase() + ' ' + label.trim()
  })()`)

/** In the page: whether an element, or its parent, has a visible focus outline. */
export const isOutlined = `((element) =>
  [element, element.parentElement].filter((it) => it).map((it) => getComputedStyle(it)).some(
    ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
  ))`

/** Whether the element with the focus, or its parent, has a visible focus outline. */
export const hasOutline = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(`${isOutlined}(document.activeElement)`)

/** Presses Tab until an element has the focus. Fails when it is not reached within `max` presses, or has no visible focus outline. */
export const tabTo = async (page: Page, target: string, max = 30): Promise<void> => {
  const passed: string[] = []
  for (let press = 0; press < max; press++) {
    await page.keyboard.press('Tab')
    const current = await focused(page)
    passed.push(current)
    if (current !== target) continue
    expect([target, await hasOutline(page)]).toEqual([target, true])
    return
  }
  throw new Error(`${target} is not among ${passed.join(', ')}`)
}
