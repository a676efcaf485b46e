import { pino, stdSerializers } from 'pino'
import { currentRequestId } from '../plugins/shared/http/current-request.ts'
import type { Log } from '../plugins/shared/problem.ts'
import type { LogLevel } from './config.ts'
import { dropUnwritten, toStandardError } from './log/standard-error.ts'

/** Options of `createLog`. */
export interface LogOptions {
  readonly level: LogLevel
  /**
   * Values that must never be written, neither whole nor as part of a text. Those of less than 8 characters are left
   * out: common words contain them.
   */
  readonly secrets: readonly string[]
  /**
   * Receives each line, with its line end. A line for which it throws is dropped and counted. Default: writes to
   * standard error, synchronously.
   */
  readonly write?: (line: string) => void
}

/** A log that may tell which levels it writes, so that callers need not build the other lines. */
export interface LeveledLog extends Log {
  isLevelEnabled?(level: LogLevel): boolean
  /** How many lines could not be written. */
  droppedLines?(): number
}

/**
 * Creates a log with one JSON object per line. Errors under `err` are written with their causes, and the id of the
 * request under `requestId`.
 *
 * No caller should log a secret. As a last defence, the log replaces the configured secrets, also in their URL-encoded
 * and JSON-escaped forms, and everything that looks like a token, the signature of a link or a password in an address,
 * by `[redacted]`.
 */
export const createLog = ({ level, secrets, write = toStandardError() }: LogOptions): LeveledLog => {
  const redact = createRedactor(secrets)
  const output = dropUnwritten(write)
  const log = pino(
    {
      level,
      base: undefined,
      mixin: requestFields,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.errWithCause },
    },
    { write: (line: string) => output.write(redact(line)) },
  )
  return Object.assign(log, { droppedLines: output.dropped })
}

/** The same for a server that starts: it warns at once if there are secrets that the log does not redact. */
export const startLog = (options: LogOptions): LeveledLog => {
  const log = createLog(options)
  const credentials = options.secrets.filter(({ length }) => length > 0 && length < minSecretLength).length
  if (credentials > 0) log.warn({ credentials }, 'credentials of less than 8 characters are not redacted in the log')
  return log
}

/** The fields of every line that the code of a request writes. */
const requestFields = (): object => {
  const requestId = currentRequestId()
  return requestId === undefined ? {} : { requestId }
}

const redacted = '[redacted]'
/**
 * Third parties choose some secrets, such as the password of a database. A password `a` would make every line
 * unreadable, and so reveal itself.
 */
const minSecretLength = 8
// After a letter or digit, as in `task-…`, only a text as long as a token counts as one.
const tokenPattern = '(?<![a-z0-9])sk-[a-z0-9._~+/-]{6,}=*|sk-[a-z0-9]{32,}|bearer(?:\\s|%20|\\+)+[a-z0-9._~+/%-]{6,}=*'
// Of a link to a file, which an error of `fetch` may contain.
const signaturePattern = '(?<=signature=)[a-z0-9._~+/%-]{16,}'
// Of any length, unlike the configured secrets.
const passwordPattern = '(?<=://[^/?#:@\\s]{0,256}:)[^/?#@\\s]{1,1024}(?=@)'

const createRedactor = (secrets: readonly string[]): ((line: string) => string) => {
  const forms = new Set(secrets.filter(({ length }) => length >= minSecretLength).flatMap(formsOf))
  // The longest first, because one secret may be a prefix of another.
  const secretPatterns = [...forms].sort((a, b) => b.length - a.length).map((form) => RegExp.escape(form))
  const forbidden = new RegExp([...secretPatterns, tokenPattern, signaturePattern, passwordPattern].join('|'), 'gi')
  // A quick test on the serialized line. It must not look at the character before `sk-`: an escaped line break ends
  // with the letter `n`.
  const suspicious = new RegExp(
    [...secretPatterns, 'sk-', 'bearer', 'signature=', '://[^/?#@\\s]{1,1281}@'].join('|'),
    'i',
  )
  const redactText = (text: string) => text.replace(forbidden, redacted)
  return (line) => (suspicious.test(line) ? `${JSON.stringify(redactValue(JSON.parse(line), redactText))}\n` : line)
}

/**
 * Redacts the values of a parsed line. A replacement in the serialized line could break the JSON where a secret is a
 * number or contains a quote.
 */
const redactValue = (value: unknown, redactText: (text: string) => string): unknown => {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'number') return redactText(String(value)) === String(value) ? value : redacted
  if (Array.isArray(value)) return value.map((element) => redactValue(element, redactText))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [redactText(key), redactValue(member, redactText)]),
  )
}

/** The forms of a secret in URLs, in JSON, and in JSON inside a JSON string. */
const formsOf = (secret: string): readonly string[] => {
  const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
  const wellFormed = secret.toWellFormed()
  return [
    secret,
    escaped(secret),
    escaped(escaped(secret)),
    escaped(escaped(escaped(secret))),
    encodeURIComponent(wellFormed),
    encodeURI(wellFormed),
    new URLSearchParams([['', secret]]).toString().slice(1),
  ]
}
