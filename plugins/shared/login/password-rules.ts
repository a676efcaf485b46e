import { Buffer } from 'node:buffer'

const form = 'a password has at least 12 characters, or 8 of three kinds (lower case, upper case, digits, others)'

/** Longer ones only cost time. */
const maxBytes = 1_024

/**
 * Why a new password is not accepted: it is too short or too long, it has too few kinds of characters, or it is the
 * user's name. Undefined: it is accepted. Characters are counted in Unicode code points.
 */
export const passwordProblem = (password: string, name: string): string | undefined => {
  if (password.length > maxBytes || Buffer.byteLength(password) > maxBytes || !password.isWellFormed())
    return `a password has at most ${maxBytes} bytes`
  const length = [...password].length
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u, /[^\p{Ll}\p{Lu}\p{Nd}]/u].filter((kind) => kind.test(password)).length
  if (length < 8 || (length < 12 && kinds < 3)) return form
  return comparable(password) === comparable(name) ? 'a password must not be the name of its user' : undefined
}

const comparable = (text: string): string => text.normalize('NFKC').toLowerCase().trim()
