import { writeFile } from 'node:fs/promises'
import { startComparedServer } from './compared-servers.ts'
import { environment } from './environment.ts'
import { type AnyCase, type Options, type Pace, readOptions, usage } from './options.ts'
import { start } from './processes.ts'
import { type Section, toText } from './report.ts'
import { measureRequests } from './requests.ts'
import { measureStarts } from './starts.ts'
import { measureOpen } from './streams.ts'
import { startGateway, startUpstream, type Target } from './targets.ts'

/** Measures CPU time, latency and memory of the gateway and of other servers, case by case, in one run. */
export const costs = async (args: readonly string[]): Promise<void> => {
  let options: Options
  try {
    options = readOptions(args)
  } catch (error) {
    console.error(`${messageOf(error)}\n${usage}`)
    process.exit(2)
  }
  const ok = await measureAll(options).catch((error: unknown) => {
    console.error(messageOf(error))
    return false
  })
  process.exit(ok ? 0 : 1)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Resolves with whether every case was measured. */
const measureAll = async ({ cases, trees, settings, against, pace, busy, json }: Options): Promise<boolean> => {
  const facts = environment(trees)
  console.log(facts.text)
  const upstream = (await startUpstream()).url
  const targets: Target[] = []
  for (const name of against) {
    showProgress(`starting ${name}`)
    targets.push(await startComparedServer(name, upstream))
  }
  for (const [name, setting] of settings) {
    showProgress(`starting ${name}`)
    targets.push(await startGateway(name, setting, upstream))
  }
  for (let nth = 0; nth < busy; nth++) {
    await start([process.execPath, '-e', "console.log('http://busy'); for (;;);"])
  }
  const sections: Section[] = []
  for (const which of cases) {
    const serving = targets.filter((target) => target.serves(which.name))
    try {
      const section = await measure(which, serving, pace)
      showProgress('')
      console.log(`\n${toText(section)}`)
      sections.push(section)
    } catch (error) {
      showProgress('')
      console.error(`\n${which.title} (${which.name}) cannot be measured: ${messageOf(error)}`)
    }
  }
  const figures = sections.map(({ name, title, rows }) => ({
    name,
    title,
    targets: rows.map((row) => ({ target: row.target, ...row.figures })),
  }))
  const report = JSON.stringify({ environment: facts.values, pace, busy, cases: figures }, undefined, 2)
  if (json === '-') console.log(`\n${report}`)
  else if (json !== undefined) await writeFile(json, `${report}\n`)
  return sections.length === cases.length
}

const measure = (which: AnyCase, targets: readonly Target[], pace: Pace): Promise<Section> => {
  if ('request' in which) return measureRequests(which, targets, pace, showProgress)
  if ('count' in which) return measureOpen(which, targets, pace, showProgress)
  return measureStarts(targets, pace, showProgress)
}

/** Shows the current step on a terminal. The next step replaces it. */
const showProgress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
