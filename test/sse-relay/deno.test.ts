import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

test('the core relays, and handles disconnects, in the same way on Deno', () => {
  const root = new URL('../../', import.meta.url).pathname
  const [deno = ''] = globSync('node_modules/@deno/*/deno', { cwd: root })
  const { stdout, stderr } = spawnSync(deno, ['run', '--no-config', 'test/sse-relay/core-on-deno.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: { NO_COLOR: '1', PATH: process.env.PATH, HOME: process.env.HOME },
  })
  expect([stderr, stdout]).toEqual(['', '{"enough":true,"left":100}\n'])
}, 300_000)
