/** Runs with `--all`: two short soaks, each with servers, traffic and a rest. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../processes.ts'

const root = join(import.meta.dir, '../../..')

/** A memory that grows by more than a just-in-time compiler needs in its first seconds. */
const memory = ['--memory', '400', '--rest', '15']

const soak = async (...options: readonly string[]) => {
  const json = join(temporaryFolder(), 'soak.json')
  const command = [process.execPath, 'test/bench/run.ts', 'soak', '--minutes', '0.3', '--pause', '100', ...memory]
  const child = Bun.spawn([...command, '--json', json, ...options], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const status = await child.exited
  if (status > 1) throw new Error(output + errors)
  const { findings, answers } = JSON.parse(readFileSync(json, 'utf8'))
  const grows = findings.filter(({ flat }: { flat: boolean }) => !flat).map(({ what }: { what: string }) => what)
  return { status, grows, answers, output }
}

test('a short soak is flat, and its traffic succeeds, fails and is refused', async () => {
  const { status, grows, answers, output } = await soak()
  expect([grows, output]).toEqual([[], expect.stringMatching(/\nflat\n$/)])
  expect(status).toBe(0)
  for (const each of ['200', '401', '403', '502']) expect(answers[each]).toBeGreaterThan(0)
}, 300_000)

test('leaks of every kind are found', async () => {
  const { status, grows, output } = await soak('--leak', 'memory,descriptors,sockets,rows')
  expect([grows, output]).toEqual([
    ['memory', 'descriptors', 'sockets', 'rows'],
    expect.stringMatching(/\nnot flat\n$/),
  ])
  expect(status).toBe(1)
}, 300_000)
