import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { Front } from '../cases.ts'
import { baseline, type ComparedServerName, packagesOf, startComparedServer } from '../compared-servers.ts'
import { environment } from '../environment.ts'
import { toText } from '../report.ts'
import { startGateway, startUpstream, type Target } from '../targets.ts'
import { boardOf, type Figures, type Measurement, measurements, type Score } from './columns.ts'
import { measure, problemOf, warmUpAll } from './measure.ts'

const peers = ['portkey', 'litellm'] as const
const known = ['bun', ...peers] as const

export interface BoardOptions {
  readonly measured: readonly Measurement[]
  readonly against: readonly (typeof known)[number][]
  readonly fronts: readonly Front[]
  /** Numbers of processes, each of which is measured. */
  readonly workers: readonly number[]
  readonly unitSeconds: number
  readonly json: string | undefined
}

export const boardUsage = `usage: bun run bench board [MEASUREMENT…] [OPTION…]
measurements (default: all, about six minutes)
${Object.entries(measurements)
  .map(([name, title]) => `  ${name.padEnd(18)}${title}`)
  .join('\n')}
options
  --against NAMES     ${known.join(', ')}. Default: all. portkey is installed for the run, into a temporary folder;
                      litellm must be installed
  --front on,off      values of GET_BODIES. Default: both
  --workers 1,2       values of WORKERS. Default: 1
  --seconds N         the unit of all durations. Default: 1
  --json FILE         writes the figures to this file`

/** Parses the command line. Throws an Error for invalid arguments. */
export const readBoardOptions = (args: readonly string[]): BoardOptions => {
  const text = { type: 'string' } as const
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { against: text, front: text, workers: text, seconds: text, json: text },
  })
  const unitSeconds = Number(values.seconds ?? 1)
  if (!(unitSeconds > 0 && unitSeconds <= 60)) throw new Error('--seconds must be a number above 0, and at most 60')
  const workers = (values.workers ?? '1').split(',').map(Number)
  if (!workers.every((count) => Number.isInteger(count) && count >= 1 && count <= 64))
    throw new Error('--workers must be numbers from 1 to 64')
  const all = Object.keys(measurements) as Measurement[]
  return {
    measured: positionals.length === 0 ? all : chosen('a measurement', positionals, all),
    against: chosen('--against', values.against?.split(',') ?? known, known),
    fronts: chosen('--front', values.front?.split(',') ?? ['on', 'off'], ['on', 'off'] as const),
    workers,
    unitSeconds,
    json: values.json,
  }
}

const chosen = <Word extends string>(what: string, given: readonly string[], all: readonly Word[]): readonly Word[] =>
  given.map((word) => {
    const found = all.find((each) => each === word)
    if (found === undefined) throw new Error(`${what} must be one of ${all.join(', ')}`)
    return found
  })

/** `bun run bench board`: the gateway with keys, ownership, limits and audit trail, beside a bare relay and other gateways. */
export const board = async (args: readonly string[]): Promise<void> => {
  let options: BoardOptions
  try {
    options = readBoardOptions(args)
  } catch (error) {
    console.error(`${messageOf(error)}\n${boardUsage}`)
    process.exit(2)
  }
  const ok = await run(options).catch((error: unknown) => {
    console.error(messageOf(error))
    return false
  })
  process.exit(ok ? 0 : 1)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Resolves with whether everything that is installed was measured. */
const run = async ({ measured, against, fronts, workers, unitSeconds, json }: BoardOptions): Promise<boolean> => {
  const facts = environment([{ name: 'sluice', path: process.cwd() }])
  console.log(facts.text)
  const upstream = await startUpstream()
  const direct: Target = {
    name: 'upstream',
    token: 'none',
    headers: {},
    serves: () => true,
    process: upstream,
    startAgain: startUpstream,
  }
  const targets: Target[] = []
  for (const name of against) {
    const target = await startPeer(name, upstream.url)
    if (target) targets.push(target)
  }
  for (const count of workers) {
    for (const front of fronts) {
      const name = `sluice ${front}${count === 1 ? '' : `, ${count} workers`}`
      showProgress(`starting ${name}`)
      const setting = { front, database: 'sqlite', workers: count, large: false, limited: true } as const
      targets.push(await startGateway(name, { tree: process.cwd(), ...setting }, upstream.url))
    }
  }
  for (const target of [direct, ...targets]) {
    const problem = await problemOf(target)
    if (problem !== undefined) throw new Error(`${target.name} does not work: ${problem}`)
  }
  const context = { direct, targets, unitSeconds, showProgress }
  await warmUpAll(context)
  const figures = new Map<Target, Figures>(targets.map((target) => [target, {}]))
  let complete = true
  for (const name of measured) {
    showProgress(measurements[name])
    try {
      for (const [target, more] of await measure[name](context))
        figures.set(target, { ...figures.get(target), ...more })
    } catch (error) {
      complete = false
      showProgress('')
      console.error(`${name} cannot be measured: ${messageOf(error)}`)
    }
  }
  showProgress('')
  const section = boardOf(
    [...figures].map(([target, own]) => ({ target: target.name, kind: kindOf(target), figures: own })),
  )
  console.log(`\n${toText(section)}`)
  if (json !== undefined) {
    const report = { environment: facts.values, unitSeconds, targets: section.rows, notes: section.notes }
    await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`)
  }
  return complete
}

/** Undefined: it is not installed, cannot be, or does not work. */
const startPeer = async (name: ComparedServerName, upstream: string): Promise<Target | undefined> => {
  const packages = packagesOf(name)
  if (packages.length > 0) console.log(`installing ${packages.join(', ')} into a temporary folder`)
  try {
    const target = await startComparedServer(name, upstream)
    const problem = await problemOf(target)
    if (problem === undefined) return target
    console.log(`${name} does not work: ${problem}`)
  } catch (error) {
    console.log(messageOf(error))
  }
  return undefined
}

const kindOf = ({ front, name }: Target): Score['kind'] =>
  front !== undefined ? 'own' : name === baseline ? 'reference' : 'peer'

/** Shows the current step on a terminal. The next step replaces it. */
const showProgress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
