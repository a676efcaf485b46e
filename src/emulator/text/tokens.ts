import type { Turn } from './prompt.ts'

const TOKEN = /\s?[\p{L}\p{M}\p{N}]{1,4}|\s+$|\s?[^\s]/gsu

/** Cuts a text into tokens of a few characters each; joined they are the text. No character is ever cut in two. */
export function tokensOf(text: string): string[] {
  const tokens: string[] = []
  let at = 0
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    tokens.push(text.slice(at, index + token.length))
    at = index + token.length
  }
  if (at < text.length) tokens.push(text.slice(at))
  return tokens
}

/**
 * What a conversation costs: its tokens, four for each message's role and boundary marks, 85 for each image, video or file,
 * and three that open the answer.
 */
export function costOf(turns: readonly Turn[], extra = ''): number {
  const messages = turns.map(({ text, pieces }) => tokensOf(text).length + 4 + 85 * pieces)
  return messages.reduce((sum, cost) => sum + cost, 3) + tokensOf(extra).length
}

/** The probability of a token as the upstream shows it; the same in every run. */
export function logprobOf(token: string, top: number): object {
  const seen = (text: string, logprob: number) => ({ token: text, logprob, bytes: [...Buffer.from(text)] })
  const logprob = -((token.codePointAt(token.length - 1) ?? 1) % 97) / 100
  const others = Array.from({ length: Math.max(0, top - 1) }, (_, rank) => seen(`${token}${rank}`, logprob - rank - 1))
  return { ...seen(token, logprob), top_logprobs: top === 0 ? [] : [seen(token, logprob), ...others] }
}
