import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/server.ts'
import { describePrograms, exchanges } from './programs.ts'

test('every example has its exchanges', () => {
  const files = readdirSync(join(root, 'examples')).filter((file) => file.endsWith('.ts'))
  expect(files.map((file) => file.slice(0, -3)).sort()).toEqual(Object.keys(exchanges).sort())
})

test('every local port in an example is the one it listens on, or its first comment says what listens there', () => {
  for (const name of Object.keys(exchanges)) {
    const text = readFileSync(join(root, 'examples', `${name}.ts`), 'utf8')
    const [comment = '', ...code] = text.split('*/')
    const explained = [...comment.matchAll(/(?:--port|ports?|and) (\d{4})\b/g)].map(([, port]) => port)
    const ports = code.join('').matchAll(/(?:127\.0\.0\.1|localhost):(\d+)/g)
    for (const [, port] of ports) expect([...explained, '3000'], name).toContain(port)
  }
})

// programs.all.test.ts has them on Deno.
describePrograms('examples', { bun: Object.keys(exchanges), deno: [] })
