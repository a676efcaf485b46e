import type { PromptMessage } from './prompt.ts'

const tokenPattern = /\s?[\p{L}\p{M}\p{N}]{1,4}|\s+$|\s?[^\s]/gsu

/** Splits a text into tokens of a few characters each. Joined, they give the text again. A character is never split. */
export const tokensOf = (text: string): string[] => {
  const tokens: string[] = []
  let at = 0
  for (const { 0: token, index } of text.matchAll(tokenPattern)) {
    tokens.push(text.slice(at, index + token.length))
    at = index + token.length
  }
  if (at < text.length) tokens.push(text.slice(at))
  return tokens
}

/**
 * The number of input tokens of a conversation: those of its texts, 4 for each message, 85 for each image, video or
 * file, and 3 that start the output.
 */
export const costOf = (turns: readonly PromptMessage[], extra = ''): number => {
  const messages = turns.map(({ text, attachments }) => tokensOf(text).length + 4 + 85 * attachments)
  return messages.reduce((sum, cost) => sum + cost, 3) + tokensOf(extra).length
}

/** The log probability object of a token, the same in every run. */
export const logprobOf = (token: string, top: number): object => {
  const entry = (text: string, logprob: number) => ({ token: text, logprob, bytes: [...Buffer.from(text)] })
  const logprob = -((token.codePointAt(token.length - 1) ?? 1) % 97) / 100
  const others = Array.from({ length: Math.max(0, top - 1) }, (_, rank) => entry(`${token}${rank}`, logprob - rank - 1))
  return { ...entry(token, logprob), top_logprobs: top === 0 ? [] : [entry(token, logprob), ...others] }
}
