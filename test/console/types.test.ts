import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

test('the page passes the type check, so both languages have all texts', () => {
  const result = spawnSync(process.execPath, ['x', 'tsc', '-p', 'plugins/console/page/tsconfig.json'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(`${result.stdout}${result.stderr}`).toBe('')
  expect(result.status).toBe(0)
}, 300_000)
