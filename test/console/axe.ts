import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { findInLooks, type Looks, tooWide } from './screen-faults.ts'

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core')), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** The violations that axe finds, best practices included. */
const violations = async (page: Page): Promise<readonly string[]> => {
  // A colour in the middle of a transition has no meaningful contrast: wait for the end.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished))',
  )
  const found = await page.evaluate<readonly Violation[]>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

/** Returns a function that finds the violations on the present screen. The page must bypass its policy. */
export const openAxe = async (page: Page): Promise<() => Promise<readonly string[]>> => {
  await page.addScriptTag({ content: axe })
  return () => violations(page)
}

/**
 * Returns a function that fails when axe finds a violation on the present screen, which it is given the name of, or the screen is too wide. With looks: in one
 * of them.
 */
export const openChecker = async (page: Page, looks?: Looks): Promise<(screen: string) => Promise<void>> => {
  const violations = await openAxe(page)
  const find = async () => [...(await violations()), ...(await tooWide(page))]
  return async (screen) =>
    expect([screen, looks ? await findInLooks(page, looks, find) : await find()]).toEqual([screen, []])
}
