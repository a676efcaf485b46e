/** Runs with `--all`: starts an upstream, a relay and the gateway, and puts load on them. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../processes.ts'

const script = join(import.meta.dir, '../run.ts')
const root = join(import.meta.dir, '../../..')

/** Two rows, with a figure for each of these columns. */
const measurements = { latency: ['added50', 'added99'], cpu: ['cpu'], streams: ['streams'] } as const

test('the board measures the gateway and the bare relay', async () => {
  const json = join(temporaryFolder(), 'board.json')
  const child = Bun.spawn(
    [process.execPath, script, 'board', ...Object.keys(measurements)].concat([
      '--against',
      'bun',
      '--front',
      'on',
      '--seconds',
      '0.1',
      '--json',
      json,
    ]),
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([await child.exited, errors]).toEqual([0, ''])
  const { targets } = JSON.parse(readFileSync(json, 'utf8'))
  expect(targets.map(({ target }: { target: string }) => target)).toEqual(['bare bun relay', 'sluice on'])
  for (const { figures } of targets) {
    expect(Object.keys(figures).toSorted()).toEqual(Object.values(measurements).flat().toSorted())
    expect(figures.cpu).toBeGreaterThan(0)
    expect(figures.streams).toBe(512)
  }
  expect(output).toContain('sluice on: streams 512, goal at least 512: met')
}, 300_000)
