import { Lexer } from 'marked'

/** @typedef {import('marked').Token} Token */

/** A longer text without a blank line is shown as it is: some patterns in it would take long to read. Characters. */
const maxInline = 8_000

/**
 * Reads Markdown into the tokens of its blocks. What the reader cannot take, such as thousands of nested quotations, is
 * a text.
 * @param {string} text
 * @returns {readonly Token[]}
 */
export const readBlocks = (text) => {
  try {
    return tokensOf(text)
  } catch {
    // Paragraph by paragraph: the others are readable.
    return text.split(/(?<=\n\n)/).flatMap((part) => {
      try {
        return tokensOf(part)
      } catch {
        return [{ type: 'text', raw: part, text: part }]
      }
    })
  }
}

/** @param {string} text */
const tokensOf = (text) => {
  const lexer = new Lexer({ gfm: true })
  lexer.blockTokens(text, lexer.tokens)
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length <= maxInline) lexer.inlineTokens(src, tokens)
    else tokens.push({ type: 'text', raw: src, text: src })
  }
  return lexer.tokens
}

/**
 * Reads a text that grows: only its last block is read again. The tokens of the others stay the same objects.
 * @returns {(text: string) => readonly Token[]}
 */
export const createReader = () => {
  /** @type {Token[]} */
  let finished = []
  let read = ''
  return (text) => {
    if (!text.startsWith(read)) {
      finished = []
      read = ''
    }
    const tokens = readBlocks(text.slice(read.length))
    let taken = 0
    for (const token of tokens.slice(0, countFinished(tokens))) {
      if (!text.startsWith(token.raw, read.length)) break
      read += token.raw
      finished.push(token)
      taken++
    }
    return [...finished, ...tokens.slice(taken)]
  }
}

/**
 * Number of blocks that no further text changes. A blank line does not end a list: the next line may belong to it, which
 * is known when that line is complete.
 * @param {readonly Token[]} tokens
 */
const countFinished = (tokens) => {
  const last = tokens.findLastIndex(({ type }) => type !== 'space')
  if (last < 1 || tokens[last]?.raw.includes('\n')) return Math.max(0, last)
  return Math.max(
    0,
    tokens.slice(0, last).findLastIndex(({ type }) => type !== 'space'),
  )
}
