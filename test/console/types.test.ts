import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

test('the types of the page are right, and both languages say everything', () => {
  const checked = spawnSync(process.execPath, ['x', 'tsc', '-p', 'plugins/console/page/tsconfig.json'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(`${checked.stdout}${checked.stderr}`).toBe('')
  expect(checked.status).toBe(0)
}, 30_000)
