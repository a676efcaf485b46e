import { existsSync, readFileSync } from 'node:fs'
import type { Dependency } from './world.ts'

/** What a route answers while something is down. */
export type Answer =
  | { readonly kind: 'as usual' }
  /** One of some statuses. `message`: what the body of an error has; undefined: the page says nothing about it. */
  | { readonly kind: 'failure'; readonly statuses: readonly number[]; readonly message: string | undefined }

interface Row {
  readonly patterns: readonly RegExp[]
  readonly answer: Answer
}

const page = readFileSync(new URL('../../src/outages.md', import.meta.url), 'utf8')

/** The headings of the page, each with a table. */
const headings: Readonly<Record<Dependency, string>> = {
  database: 'The database is down',
  assets: 'The upstream of the asset library is down',
  text: 'An upstream of text generation is down',
  video: 'The upstream of video generation is down',
  login: 'The identity provider is down',
  storage: 'The bucket of the storage is down',
}

const escaped = (text: string): string => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&')

/** `GET /path/{id}`, `/path/…` for all that begin like this, with a method or of all methods. */
const patternOf = (words: string): RegExp => {
  const [, method = '[A-Z]+', path = ''] = /^(?:([A-Z]+) )?(\S+)$/.exec(words) ?? []
  return new RegExp(
    `^${method} ${escaped(path)
      .replace(/\{\w*\}/g, '\\{\\}')
      .replace('…', '.*')}$`,
  )
}

const answerOf = (cell: string): Answer => {
  if (cell.startsWith('as usual')) return { kind: 'as usual' }
  const statuses = [...cell.matchAll(/\b([2-5]\d\d)\b/g)].map(([, status]) => Number(status))
  if (statuses.length === 0) throw new Error(`the page has no such answer: ${cell}`)
  return { kind: 'failure', statuses, message: /`([^`]+)`/.exec(cell)?.[1] }
}

const rowsOf = (heading: string): readonly Row[] => {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`the page has no section ${heading}`)
  return [...section.matchAll(/^\| (`.+?) \| (.+?) \|/gm)].map(([, routes = '', cell = '']) => ({
    patterns: [...routes.matchAll(/`([^`]+)`/g)].map(([, words = '']) => patternOf(words)),
    answer: answerOf(cell),
  }))
}

const tables = new Map<Dependency, readonly Row[]>()

/** What the page says that a route (`METHOD /path/{}`) answers while a dependency is down. The first row that names it counts; none: as usual. */
export const answerWhileDown = (dependency: Dependency, route: string): Answer => {
  const rows = tables.get(dependency) ?? rowsOf(headings[dependency])
  tables.set(dependency, rows)
  return rows.find(({ patterns }) => patterns.some((pattern) => pattern.test(route)))?.answer ?? { kind: 'as usual' }
}

/** The patterns of the page that no route matches. */
export const unusedPatterns = (routes: readonly string[]): readonly string[] =>
  (Object.keys(headings) as Dependency[]).flatMap((dependency) =>
    rowsOf(headings[dependency])
      .flatMap(({ patterns }) => patterns)
      .filter((pattern) => !routes.some((route) => pattern.test(route)))
      .map((pattern) => `${dependency}: ${pattern}`),
  )

/** The files of tests on the page that do not exist. */
export const missingTests = (): readonly string[] => {
  const files = [...page.matchAll(/`(test\/\S+\.test\.ts)`/g)].map(([, file = '']) => file)
  if (files.length === 0) throw new Error('the page names no test')
  return files.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)))
}
