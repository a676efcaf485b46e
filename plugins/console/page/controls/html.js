import htm from 'htm'
import { h } from 'preact'

/**
 * JSX-like markup in template literals, without a build step. Values are inserted as text or attributes, never as
 * markup.
 */
export const html = /** @type {(strings: TemplateStringsArray, ...values: unknown[]) => import('preact').VNode} */ (
  htm.bind(h)
)
