import { findCredentials } from '../shared/credentials.ts'
import type { Json } from '../shared/json.ts'
import { type Answer, Invalid, Refusal } from '../upstream-proxy/index.ts'
import { readGroup, resultOf } from './parse.ts'

/** A session as the upstream made it. */
export interface ValidateSession {
  /** What it is asked with: a secret. */
  readonly token: string
  /** What the person opens: holds temporary credentials, a secret too. */
  readonly link: string
  /** Milliseconds since 1970; undefined when the upstream does not say. */
  readonly expiresAt: number | undefined
}

const longestSecret = 8_192

/** Throws Invalid for an answer that holds no session. */
export const readValidateSession = (answer: Answer, now: number): ValidateSession => {
  const result = resultOf(answer)
  const token = result.get('BytedToken')?.string() ?? ''
  const link = result.get('H5Link')?.string() ?? ''
  if (!isText(token) || !isText(link) || !/^https?:\/\//i.test(link)) throw new Invalid('a session without its secrets')
  return { token, link, expiresAt: readEnd(result, now) }
}

/** Text that a database keeps. */
const isText = (text: string): boolean =>
  text !== '' && text.length <= longestSecret && text.isWellFormed() && !/\p{Cc}/u.test(text)

/** Documented pages differ in how long a session lives, and none says how the upstream would: in seconds from now, or as a time. */
const readEnd = (result: Json, now: number): number | undefined => {
  for (const { key, value } of result.members()) {
    const [, word] = /^expires?_?(in|at|time)$/i.exec(key) ?? []
    if (word === undefined) continue
    const number = Number(value.string() ?? value.raw)
    const at = Number.isNaN(number) ? Date.parse(value.string() ?? '') : number * (number > 1e11 ? 1 : 1000)
    const end = word.toLowerCase() === 'in' ? now + number * 1000 : at
    if (Number.isFinite(end) && end > now) return Math.floor(end)
  }
  return undefined
}

/** What became of a session: its group, `none` while there is none, or `gone` when there never will be. */
export type ValidateResult = { readonly group: string } | 'none' | 'gone'

/**
 * Reads the answer to the question for the result. Before the person is done, and after the end, the upstream either names no group or says that
 * it knows no such session. Every other failure says nothing of the session, and is thrown.
 */
export const readValidateResult = async (asking: Promise<Answer>): Promise<ValidateResult> => {
  try {
    const group = readGroup(resultOf(await asking).get('GroupId'))
    return group === undefined ? 'none' : { group }
  } catch (error) {
    if (error instanceof Refusal && unknown.has(error.status)) return 'none'
    if (error instanceof Refusal && error.status === 410) return 'gone'
    throw error
  }
}

const unknown: ReadonlySet<number> = new Set([400, 404])

/** The upstream's own error is forwarded, unless it repeats what nobody is to see. */
export const discreet = async <Value>(
  asking: Promise<Value>,
  secrets: readonly (string | undefined)[],
): Promise<Value> => {
  try {
    return await asking
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { headers, bytes } = error.answer
    const reveals = findCredentials(secrets)
    throw reveals(bytes, headers) ? new Invalid('an error that contains a secret') : error
  }
}
