import htm from 'htm'
import { h } from 'preact'

/** Markup in template literals: what JSX would be, without a build step. Values are put in as values, never as markup. */
export const html = /** @type {(strings: TemplateStringsArray, ...values: unknown[]) => import('preact').VNode} */ (
  htm.bind(h)
)
