import { useRef } from 'preact/hooks'
import { CodeBlock } from '../controls/code-block.js'
import { html } from '../controls/html.js'
import { httpUrl } from '../controls/preview.js'
import { createReader } from './markdown.js'
import { t } from './words.js'

/** @typedef {import('marked').Token} Token */
/** @typedef {import('marked').Tokens.List} List */
/** @typedef {import('marked').Tokens.Table} Table */
/** @typedef {import('preact').ComponentChildren} Content */

/** Bounds of what is shown of one answer. Copying it gives everything. */
const maxDepth = 12
const maxItems = 1_000
const maxRows = 200
const maxColumns = 40

/**
 * Blocks of a part of an answer. The browser lays out and paints only the parts near the view, and a part whose blocks
 * have not changed is not rendered again.
 */
const partSize = 24

/**
 * An answer in Markdown as elements. Markup in it is text, and only http and https addresses are links.
 * @param {{ text: string }} props
 */
export const Markdown = ({ text }) => {
  const reader = useRef(/** @type {ReturnType<typeof createReader> | undefined} */ (undefined))
  reader.current ??= createReader()
  const parts = useRef(/** @type {Part[]} */ ([]))
  const tokens = reader.current(text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text)
  parts.current = Array.from({ length: Math.ceil(tokens.length / partSize) }, (_, at) =>
    renderPart(tokens.slice(at * partSize, (at + 1) * partSize), parts.current[at]),
  )
  return html`<div class="markdown">${parts.current.map(({ content }) => content)}</div>`
}

/** @typedef {{ tokens: readonly Token[], blocks: readonly Content[], content: Content }} Part */

/** @param {readonly Token[]} tokens @param {Part | undefined} before @returns {Part} */
const renderPart = (tokens, before) => {
  const isSame = (/** @type {Token} */ token, /** @type {number} */ at) => token === before?.tokens[at]
  if (before && tokens.length === before.tokens.length && tokens.every(isSame)) return before
  const blocks = tokens.map((token, at) => (before && isSame(token, at) ? before.blocks[at] : block(token, 0)))
  return { tokens, blocks, content: html`<div class="part">${blocks}</div>` }
}

/** @param {readonly Token[] | undefined} tokens @param {number} depth */
const blocks = (tokens = [], depth) => tokens.map((token) => block(token, depth))

/** @param {Token} token @param {number} depth @returns {Content} */
const block = (token, depth) => {
  if (depth > maxDepth) return html`<p class="text">${token.raw}</p>`
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'code':
      return html`<${CodeBlock} code=${token.text} label=${(token.lang ?? '').split(/\s/, 1)[0]} />`
    case 'heading':
      return html`<div role="heading" aria-level="3" class=${`level-${token.depth}`}>${inline(token.tokens, depth + 1)}</div>`
    case 'hr':
      return html`<hr />`
    case 'blockquote':
      return html`<blockquote>${blocks(token.tokens, depth + 1)}</blockquote>`
    case 'list':
      return list(/** @type {List} */ (token), depth)
    case 'table':
      return table(/** @type {Table} */ (token), depth)
    case 'paragraph':
      return html`<p>${inline(token.tokens, depth + 1)}</p>`
    case 'text':
      return 'tokens' in token && token.tokens
        ? html`<span>${inline(token.tokens, depth + 1)}</span>`
        : html`<p class="text">${token.text}</p>`
    default:
      return html`<p class="text">${token.raw}</p>`
  }
}

/** @param {List} token @param {number} depth */
const list = ({ ordered, start, items }, depth) => {
  const shown = items.slice(0, maxItems).map(
    ({ task, checked, tokens }) =>
      html`<li>${task && html`<input type="checkbox" checked=${checked} disabled aria-label=${t.chat.task} /> `}${blocks(
        tokens.filter(({ type }) => type !== 'checkbox'),
        depth + 1,
      )}</li>`,
  )
  const rest = items.length > maxItems && html`<p class="hint">${t.chat.more(items.length - maxItems)}</p>`
  return ordered ? html`<ol start=${start || 1}>${shown}</ol>${rest}` : html`<ul>${shown}</ul>${rest}`
}

/** @param {Table} token @param {number} depth */
const table = ({ header, rows, align }, depth) => {
  const cells = (/** @type {readonly { tokens: Token[] }[]} */ row, /** @type {string} */ tag) =>
    row
      .slice(0, maxColumns)
      .map(
        ({ tokens }, at) =>
          html`<${tag} class=${align[at] ?? ''} scope=${tag === 'th' ? 'col' : undefined}>${inline(tokens, depth + 1)}<//>`,
      )
  return html`
    <div class="scroll" tabindex="0">
      <table>
        <thead><tr>${cells(header, 'th')}</tr></thead>
        <tbody>${rows.slice(0, maxRows).map((row) => html`<tr>${cells(row, 'td')}</tr>`)}</tbody>
      </table>
    </div>
    ${(rows.length > maxRows || header.length > maxColumns) && html`<p class="hint">${t.chat.more(Math.max(0, rows.length - maxRows))}</p>`}
  `
}

/** @param {readonly Token[] | undefined} tokens @param {number} depth @returns {Content} */
const inline = (tokens = [], depth) =>
  tokens.map((token) => {
    if (depth > maxDepth) return token.raw
    switch (token.type) {
      case 'strong':
        return html`<strong>${inline(token.tokens, depth + 1)}</strong>`
      case 'em':
        return html`<em>${inline(token.tokens, depth + 1)}</em>`
      case 'del':
        return html`<del>${inline(token.tokens, depth + 1)}</del>`
      case 'codespan':
        return html`<code>${token.text}</code>`
      case 'br':
        return html`<br />`
      case 'link':
        return link(token.href, inline(token.tokens, depth + 1), token.raw)
      // A picture of another server would tell it what is read here.
      case 'image':
        return link(token.href, token.text || token.href, token.raw)
      case 'text':
        return 'tokens' in token && token.tokens ? inline(token.tokens, depth + 1) : decoded(token.text)
      case 'escape':
        return token.text
      default:
        return token.raw
    }
  })

/** @param {string} address @param {Content} content @param {string} raw */
const link = (address, content, raw) => {
  const url = httpUrl(address)
  return url ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${content}</a>` : raw
}

/** @type {Readonly<Record<string, string>>} */
const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

/** Decodes the usual character references: the tokens have them as they are. @param {string} text */
const decoded = (text) =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name) return entities[name] ?? whole
    const code = Number.parseInt(decimal ?? hex, decimal ? 10 : 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
