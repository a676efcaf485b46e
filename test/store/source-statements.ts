import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { matchingTokens, tokenPlaceAt } from '../../src/store/admin/token-queries.ts'
import { countUsers, matchingUsers, placeAt } from '../../src/store/admin/user-queries.ts'
import { deleteUnchained } from '../../src/store/audit/sweep.ts'
import { selectAll, selectWithdrawn } from '../../src/store/consents/consent-pages.ts'
import type { Statement } from '../../src/store/database/statement.ts'
import { sweepStatements } from '../../src/store/events/deliveries.ts'
import { deleteOldVerifications } from '../../src/store/face-verifications.ts'
import { deleteExpiredKeys } from '../../src/store/idempotency.ts'
import { deleteEndedBatches } from '../../src/store/library/asset-batches.ts'
import { countExisting } from '../../src/store/limits/existing.ts'
import { countRows, retainedKinds } from '../../src/store/overdue.ts'
import { deleteExpiredTextObjects } from '../../src/store/text/text-objects.ts'
import { deleteForgotten } from '../../src/store/users/attempts.ts'
import { deleteExpiredSessions } from '../../src/store/users/sessions.ts'
import { sweepTokens } from '../../src/store/users/token-rows.ts'

const folder = new URL('../../src/store/', import.meta.url).pathname

/** A statement, and the file of the store that has it. */
export interface SourceStatement {
  readonly file: string
  readonly text: string
}

/** Statements of clauses, which the sources do not have as a whole. */
const composed = (mark: '?' | '$'): readonly SourceStatement[] => {
  const place = { key: 1, id: 'a' }
  const filter = { team: 'a', text: 'a' }
  const users = [
    ...(['part', 'names', 'team', 'admins', 'disabled', 'all'] as const).flatMap((order) => {
      const range = { order, part: 'abc', after: place }
      return [placeAt(range, filter, 9), matchingUsers(range, { count: 9, until: place }, filter, 9)]
    }),
    countUsers(['abc'], filter),
  ]
  const tokenFilter = { user: 'a', search: 'a', now: 1 }
  const tokens = (['user', 'revoked', 'all'] as const).flatMap((order) => [
    tokenPlaceAt(order, place, tokenFilter, 9),
    matchingTokens(order, { after: place, until: place }, tokenFilter, 9),
  ])
  const existing = (['groups', 'assets', 'storage_bytes', 'running_videos'] as const).flatMap((unit) =>
    (['account', 'team', 'user', 'token'] as const).map((type) => {
      const subject = { type, id: 'a', ...(type === 'token' && { user: 'a' }) }
      return { type, statement: countExisting({ id: 'a', unit, subject, bucket: 0 }, 9, 1) }
    }),
  )
  const pages = [selectAll('a', 101), selectWithdrawn('a', 101)]
  const removals: readonly (readonly [file: string, statement: Statement])[] = [
    ['audit/sweep.ts', deleteUnchained(1, 1_000)],
    ['face-verifications.ts', deleteOldVerifications(1, 1_000)],
    ['idempotency.ts', deleteExpiredKeys(1, 1_000)],
    ['library/asset-batches.ts', deleteEndedBatches(1, 1_000)],
    ['text/text-objects.ts', deleteExpiredTextObjects(1, 1_000)],
    ['users/attempts.ts', deleteForgotten(1)],
    ['users/sessions.ts', deleteExpiredSessions(1)],
    ...sweepStatements(1, 1_000).map((statement) => ['events/deliveries.ts', statement] as const),
  ]
  const overdue = retainedKinds.map((kind) => countRows(kind, 1, 1_000))
  const textOf = ({ strings }: Statement) => strings.reduce((text, part, index) => `${text}${mark}${index}${part}`)
  return [
    ...existing.map(({ type, statement }) => ({ file: `limits/existing.ts of ${type}`, text: textOf(statement) })),
    ...users.map((statement) => ({ file: 'admin/user-queries.ts', text: textOf(statement) })),
    ...tokens.map((statement) => ({ file: 'admin/token-queries.ts', text: textOf(statement) })),
    ...sweepTokens(1).map((statement) => ({ file: 'users/token-rows.ts', text: textOf(statement) })),
    ...pages.map((statement) => ({ file: 'consents/consent-pages.ts', text: textOf(statement) })),
    ...removals.map(([file, statement]) => ({ file, text: textOf(statement) })),
    ...overdue.map((statement) => ({ file: 'overdue.ts', text: textOf(statement) })),
  ]
}

/** Every statement in the sources of the store, with numbered parameters. Migrations are excluded: they run once. */
export const statements = (mark: '?' | '$'): readonly SourceStatement[] => [...written(mark), ...composed(mark)]

const written = (mark: '?' | '$'): readonly SourceStatement[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('migrations/'))
    .flatMap((file) => {
      const source = withFragments(file)
      return [...source.matchAll(/(?<!`)\bsql`/g)].map(({ index }) => ({ file, text: textAt(source, index + 4, mark) }))
    })

/** The source with the text of each fragment in the statements that have it: its own ones, and those that it imports. */
const withFragments = (file: string): string => {
  const source = readFileSync(folder + file, 'utf8')
  const imports = [...source.matchAll(/^import \{([^}]*)\} from '(\.[^']*)'/gm)]
  const imported = imports.flatMap(([, names = '', path = '']) => {
    const from = join(dirname(file), path)
    return from.startsWith('..') ? [] : fragmentsIn(from).filter(([name]) => names.split(/\W+/).includes(name))
  })
  return [...fragmentsIn(file), ...imported].reduce(
    (text, [name, part]) => text.replaceAll(`\${${name}}`, part),
    source,
  )
}

/** The fragments of a file. One may contain those before it. */
const fragmentsIn = (file: string): readonly (readonly [name: string, text: string])[] => {
  const found: (readonly [name: string, text: string])[] = []
  for (const [, name = '', text = ''] of readFileSync(folder + file, 'utf8').matchAll(
    /const (\w+) = fragment`([^`]*)`/g,
  ))
    found.push([name, found.reduce((whole, [known, part]) => whole.replaceAll(`\${${known}}`, part), text)])
  return found
}

const textAt = (source: string, start: number, mark: string): string => {
  let text = ''
  let parameter = 0
  let depth = 0
  for (let at = start; depth > 0 || source[at] !== '`'; at++) {
    const [character, next] = [source[at], source[at + 1]]
    if (depth > 0) depth += character === '{' ? 1 : character === '}' ? -1 : 0
    else if (character === '$' && next === '{') {
      text += mark + ++parameter
      depth = 1
      at++
    } else text += character
  }
  return text
}
