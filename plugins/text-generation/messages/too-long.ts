import type { ErrorDetail } from '../../shared/upstream/error-details.ts'

/**
 * The message of an error of an upstream, for clients of Anthropic's API.
 *
 * Agents such as Claude Code summarize the conversation and go on when a message says that the prompt is too long, in
 * Anthropic's words. Other vendors have words of their own, which follow.
 */
export const messageForClients = ({ code, message }: Pick<ErrorDetail, 'code' | 'message'>): string => {
  if (!tooLongCodes.has(code) && !tooLong.test(message)) return message
  const limit = numberIn(limitIn.exec(message)?.[1])
  const actual = Math.max(...[...message.matchAll(/\d[\d,]{3,}/g)].map(([digits]) => numberIn(digits) ?? 0))
  const counts = limit !== undefined && actual > limit ? `${actual} tokens > ${limit} maximum. ` : ''
  return `prompt is too long: ${counts}${message}`
}

/** Of OpenAI's API, and of llama.cpp's server. */
const tooLongCodes: ReadonlySet<string> = new Set(['context_length_exceeded', 'exceed_context_size_error'])

const tooLong =
  /\bmaximum context length\b|\bexceeds?\b[^.]{0,60}\bcontext (?:length|size|window|limit)\b|\bcontext (?:length|size|window) (?:was |is )?exceeded\b|\binput tokens exceed\b/i

const limitIn = /\b(?:maximum context length|context (?:length|size|window|limit)|limit)\D{0,30}?(\d[\d,]{3,})/i

const numberIn = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits.replaceAll(',', ''))
