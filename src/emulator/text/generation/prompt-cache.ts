import { sha256 } from '../../shared/hash.ts'
import type { Prompt } from './prompt.ts'
import { tokensOf } from './tokens.ts'

/** Prompts are cached in blocks of this number of tokens. */
const blockTokens = 128
/** Shorter prompts are not cached. */
const minTokens = 1024
/** Maximum number of cached blocks; the oldest are dropped first. */
const maxBlocks = 10_000

/** The number of input tokens that came from the cache, and that were written to it. */
export interface CacheUse {
  readonly cached: number
  readonly written: number
}

const nothing: CacheUse = { cached: 0, written: 0 }

/** Cache of the beginnings of prompts, of one account. */
export interface PromptCache {
  /** Looks a prompt up, and writes what is new. */
  use(prompt: Prompt): CacheUse
}

/** Creates an empty cache. */
export const createPromptCache = (): PromptCache => {
  const blocks = new Set<string>()
  return {
    use({ model, tools, turns }) {
      const texts = [JSON.stringify(tools), ...turns.map(({ role, text }) => `${role} ${text}`)]
      // a token has at least one character: most prompts need no count
      if (texts.reduce((sum, { length }) => sum + length, 0) < minTokens) return nothing
      const tokens = texts.flatMap(tokensOf)
      if (tokens.length < minTokens) return nothing
      const hashes: string[] = []
      for (let end = blockTokens; end <= tokens.length; end += blockTokens) {
        // each hash stands for everything before it, so that a block counts only after the same beginning
        hashes.push(sha256((hashes.at(-1) ?? model.id) + tokens.slice(end - blockTokens, end).join('')))
      }
      const missing = hashes.findIndex((hash) => !blocks.has(hash))
      const found = (missing < 0 ? hashes.length : missing) * blockTokens
      for (const hash of hashes) blocks.add(hash)
      for (const oldest of blocks) {
        if (blocks.size <= maxBlocks) break
        blocks.delete(oldest)
      }
      return found < minTokens
        ? { cached: 0, written: hashes.length * blockTokens }
        : { cached: found, written: hashes.length * blockTokens - found }
    },
  }
}
