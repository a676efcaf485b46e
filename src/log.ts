import { pino, stdSerializers } from 'pino'
import type { Log } from '../plugins/shared/problem.ts'
import type { LogLevel } from './config.ts'

export interface LogOptions {
  readonly level: LogLevel
  /** Values that must never be written, whole or as part of anything. */
  readonly secrets: readonly string[]
  /** Takes each line, its line end included. Default: standard error, at once. */
  readonly write?: (line: string) => void
}

/** A log that may say which of its lines are written at all, so that nobody makes the others. */
export interface LeveledLog extends Log {
  isLevelEnabled?(level: LogLevel): boolean
}

/**
 * A log of one JSON object a line. Errors under `err` are written with their causes.
 *
 * Callers do not log secrets; this is the last wall, for the one that does: configured values, in the forms they take in addresses and in JSON, and
 * whatever looks like a token, are replaced by `[redacted]`.
 */
export const createLog = ({ level, secrets, write = toStandardError() }: LogOptions): LeveledLog => {
  const redact = wall(secrets)
  return pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.errWithCause },
    },
    { write: (line: string) => write(redact(line)) },
  )
}

const toStandardError = (): ((line: string) => void) => {
  const destination = pino.destination({ fd: 2, sync: true })
  return (line) => destination.write(line)
}

const redacted = '[redacted]'
// Where something precedes `sk-`, as in `task-…`, only what is as long as a token is taken for one.
const tokens = '(?<![a-z0-9])sk-[a-z0-9._~+/-]{6,}=*|sk-[a-z0-9]{32,}|bearer(?:\\s|%20|\\+)+[a-z0-9._~+/%-]{6,}=*'

const wall = (secrets: readonly string[]): ((line: string) => string) => {
  const forms = new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf))
  // The longest first: a secret may begin with another.
  const known = [...forms].sort((a, b) => b.length - a.length).map((form) => RegExp.escape(form))
  const forbidden = new RegExp([...known, tokens].join('|'), 'gi')
  // In a line's text a line break is written `\n`, which would stand before `sk-` like a letter.
  const suspicious = new RegExp([...known, 'sk-', 'bearer'].join('|'), 'i')
  const clean = (text: string) => text.replace(forbidden, redacted)
  return (line) => (suspicious.test(line) ? `${JSON.stringify(cleaned(JSON.parse(line), clean))}\n` : line)
}

/** In place of the line's text, which would no longer be JSON where a secret is a number or holds a quote. */
const cleaned = (value: unknown, clean: (text: string) => string): unknown => {
  if (typeof value === 'string') return clean(value)
  if (typeof value === 'number') return clean(String(value)) === String(value) ? value : redacted
  if (Array.isArray(value)) return value.map((element) => cleaned(element, clean))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [clean(key), cleaned(member, clean)]))
}

/** How a secret looks in addresses, in JSON, and in JSON that is text in JSON. */
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
