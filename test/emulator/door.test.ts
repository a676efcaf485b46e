import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import * as door from '../../src/emulator/index.ts'

const FOLDER = new URL('../../src/emulator/', import.meta.url)

test('the door offers exactly this', () => {
  expect(Object.keys(door).sort()).toEqual(['DOCUMENTED_LIMITS', 'outcomeByUrl', 'startEmulator'])
})

test('the emulator leans on node modules and itself alone', () => {
  for (const file of readdirSync(FOLDER)) {
    const source = readFileSync(new URL(file, FOLDER), 'utf8')
    expect(source).not.toMatch(/\b(Bun|Deno)\.|process\.env/)
    for (const [, from] of source.matchAll(/ from '([^']+)'/g)) expect(from).toMatch(/^(node:[a-z/]+|\.\/[a-z-]+\.ts)$/)
  }
})
