import { accountCodes } from './codes/account.ts'
import { assetCodes } from './codes/assets.ts'
import { moderationCodes } from './codes/moderation.ts'
import { requestCodes } from './codes/request.ts'
import { taskCodes } from './codes/tasks.ts'
import type { FailureAdvice, FailureEntries, FailureEntry } from './entry.ts'

const entries: ReadonlyMap<string, readonly FailureEntry[]> = new Map(
  [requestCodes, accountCodes, moderationCodes, assetCodes, taskCodes].flatMap((codes: FailureEntries) =>
    Object.entries(codes).map(([code, given]) => [code, [given].flat()] as const),
  ),
)

/** Longer than any code. */
const maxCodeLength = 256

/**
 * What to do about an error code of the vendor: of a create call, a failed task, or a failed asset. Undefined: nothing
 * is known about it.
 *
 * A code without an entry has that of its part before the last dot, as the vendor adds details there.
 *
 * @param message the vendor's message, which alone tells what some codes mean
 *
 * @example
 * adviceFor('OutputAudioSensitiveContentDetected')?.change // 'without_audio'
 */
export const adviceFor = (code: string, message = ''): FailureAdvice | undefined => {
  if (code.length > maxCodeLength) return undefined
  for (let name = code; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const entry = entries.get(name)?.find(({ message: fits }) => fits?.test(message) ?? true)
    if (entry) return adviceOf(name, entry)
  }
  return undefined
}

/** Every entry, by code. Of several for one code, each. */
export const allAdvice = (): readonly FailureAdvice[] =>
  [...entries].flatMap(([code, all]) => all.map((entry) => adviceOf(code, entry)))

const adviceOf = (code: string, entry: FailureEntry): FailureAdvice => {
  const { retry = false, retry_after = null, change = null, by = 'caller', en, zh } = entry
  return { code, retry, retry_after, change, by, text: { en, zh } }
}
