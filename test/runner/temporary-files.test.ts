import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/until.ts'

const support = join(import.meta.dir, '../support')

/** Runs a program in another process of this runtime. */
const start = (program: string, environment: Record<string, string> = {}) => {
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(process.execPath, ['-e', program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(output.trim())))
  return { child, ended, output: () => output }
}

test('the temporary files of a process that is killed are removed', async () => {
  const program = `
    import '${support}/temporary-files.ts'
    import { mkdtempSync, writeFileSync } from 'node:fs'
    import { tmpdir } from 'node:os'
    writeFileSync(mkdtempSync(tmpdir() + '/left-') + '/file', 'x')
    console.log(tmpdir())
    setInterval(() => {}, 1_000)`
  const parent = mkdtempSync(join(tmpdir(), 'killed-'))
  const { child, ended, output } = start(program, { TMPDIR: parent })
  await until(() => output().endsWith('\n'))
  const folder = output().trim()
  expect([folder.startsWith(`${parent}/`), readdirSync(folder).length]).toEqual([true, 1])
  child.kill('SIGKILL')
  await ended
  await until(() => !existsSync(folder))
}, 60_000)

test('what processes of a run share is made by one of them, also when the first one was killed', async () => {
  const run = mkdtempSync(join(tmpdir(), 'shared-'))
  const ended = start('')
  await ended.ended
  // A process that was killed has left its lock, and a part of its work.
  writeFileSync(join(run, 'thing.lock'), String(ended.child.pid))
  mkdirSync(join(run, 'thing.unfinished'))
  writeFileSync(join(run, 'thing.unfinished/half'), '')
  const program = `
    import { oncePerRun } from '${support}/once-per-run.ts'
    import { appendFileSync } from 'node:fs'
    const made = await oncePerRun('thing', async (folder) => {
      appendFileSync('${run}/makers', 'x')
      await Bun.sleep(200)
      appendFileSync(folder + '/whole', 'x')
    })
    console.log(made)`
  const environment = { SLUICE_RUN_FOLDER: run }
  const outputs = await Promise.all([1, 2, 3].map(() => start(program, environment).ended))
  expect(outputs).toEqual([1, 2, 3].map(() => join(run, 'thing')))
  expect(readFileSync(join(run, 'makers'), 'utf8')).toBe('x')
  expect(readdirSync(run).sort()).toEqual(['makers', 'thing'])
  expect(readdirSync(join(run, 'thing'))).toEqual(['whole'])
}, 60_000)
