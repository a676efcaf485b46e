import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Case, cases } from './cases.ts'
import { type ComparedServerName, comparedServers, defaultComparedServers } from './compared-servers.ts'
import { startCase } from './starts.ts'
import { type OpenCase, openCases } from './streams.ts'
import type { Setting } from './targets.ts'

export type AnyCase = Case | OpenCase | typeof startCase

export interface Pace {
  /** Warm-up of a target before each case. It is repeated while the target compiles. */
  readonly warmSeconds: number
  readonly seconds: number
  readonly rounds: number
  /** Connections while CPU time is measured. */
  readonly connections: number
}

export interface Options {
  readonly cases: readonly AnyCase[]
  readonly trees: readonly Tree[]
  /** Gateways, by name. */
  readonly settings: ReadonlyMap<string, Setting>
  readonly against: readonly ComparedServerName[]
  readonly pace: Pace
  /** Number of processes that only consume CPU time. */
  readonly busy: number
  /** Path of a JSON file with the figures. `-` is standard output. */
  readonly json: string | undefined
}

export interface Tree {
  readonly name: string
  readonly path: string
}

const allCases: readonly AnyCase[] = [...cases, ...openCases, startCase]

export const usage = `usage: bun run bench [CASE…] [OPTION…]
cases (default: all)
${allCases.map(({ name, title }) => `  ${name.padEnd(18)}${title}`).join('\n')}
options
  --tree PATH         a checkout whose gateway is measured. May be repeated to compare several. Default: this one
  --front on,off      on: GET_BODIES=on (node:http); off: GET_BODIES=off (Bun.serve). Default: both
  --database NAMES    sqlite, postgres. Default: sqlite
  --workers 1,2       Default: 1
  --large             measures each gateway also with a database of 1,000,000 groups and 100,000 tokens
  --limits            measures each gateway also with usage limits, which it never reaches
  --against NAMES     ${comparedServers.join(', ')}. portkey and fastify are installed for the run,
                      into a temporary folder. Default: the others, as far as they are installed
  --seconds N         duration of a round. Latencies take half as long in addition. Default: 2
  --rounds N          Default: 5
  --warm N            seconds of warm-up for each target and case, repeated while it compiles. Default: 5
  --connections N     connections while CPU time is measured; latencies use a quarter of them. Default: 16
  --busy N            number of additional processes that only consume CPU time. Default: 0
  --json FILE         writes the figures to this file; - prints them after the tables`

const text = { type: 'string' } as const
const known = {
  tree: { type: 'string', multiple: true },
  front: text,
  database: text,
  workers: text,
  large: { type: 'boolean' },
  limits: { type: 'boolean' },
  against: text,
  seconds: text,
  rounds: text,
  warm: text,
  connections: text,
  busy: text,
  json: text,
} as const

/** Parses the command line. Throws an Error for invalid arguments. */
export const readOptions = (args: readonly string[]): Options => {
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options: known })
  const trees = treesOf(values.tree)
  const fronts = several('front', values.front, ['on', 'off'])
  const databases = several('database', values.database ?? 'sqlite', ['sqlite', 'postgres'])
  const counts = (values.workers ?? '1').split(',').map((count) => number('workers', count, 1))
  const settings = new Map<string, Setting>()
  for (const { name, path } of trees) {
    for (const database of databases) {
      for (const workers of counts) {
        for (const large of values.large ? [false, true] : [false]) {
          for (const limited of values.limits ? [false, true] : [false]) {
            for (const front of fronts) {
              const words = [
                name,
                front,
                database === 'sqlite' ? '' : database,
                workers === 1 ? '' : `${workers} workers`,
                large ? 'large' : '',
                limited ? 'limits' : '',
              ]
              settings.set(words.filter(Boolean).join(' '), { tree: path, front, database, workers, large, limited })
            }
          }
        }
      }
    }
  }
  return {
    cases: positionals.length === 0 ? allCases : positionals.map(caseNamed),
    trees,
    settings,
    against:
      values.against === undefined ? defaultComparedServers() : several('against', values.against, comparedServers),
    pace: {
      warmSeconds: number('warm', values.warm, 5),
      seconds: number('seconds', values.seconds, 2),
      rounds: number('rounds', values.rounds, 5),
      connections: number('connections', values.connections, 16),
    },
    busy: number('busy', values.busy, 0),
    json: values.json,
  }
}

/** Names checkouts by their folder names. Where these are not unique, the names are the paths. */
const treesOf = (given: readonly string[] | undefined): readonly Tree[] => {
  if (given === undefined) return [{ name: 'sluice', path: resolve('.') }]
  const paths = given.map((path) => resolve(path))
  const names = paths.map((path) => basename(path))
  const unique = new Set(names).size === names.length
  return paths.map((path, nth) => ({ path, name: (unique ? names[nth] : undefined) ?? path }))
}

const caseNamed = (name: string): AnyCase => {
  const found = allCases.find((each) => each.name === name)
  if (!found) throw new Error(`there is no case ${name}`)
  return found
}

const number = (name: string, given: string | undefined, usual: number): number => {
  const value = Number(given ?? usual)
  if (!(value >= 0 && value <= 10_000)) throw new Error(`--${name} must be a number from 0 to 10000`)
  return value
}

const several = <Word extends string>(
  name: string,
  given: string | undefined,
  all: readonly Word[],
): readonly Word[] =>
  given === undefined
    ? all
    : given.split(',').map((word) => {
        const found = all.find((each) => each === word)
        if (!found) throw new Error(`--${name} must be one of ${all.join(', ')}`)
        return found
      })
