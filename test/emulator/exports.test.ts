import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import * as door from '../../src/emulator/index.ts'

const FOLDER = new URL('../../src/emulator/', import.meta.url)

test('the module exports exactly these values', () => {
  expect(Object.keys(door).sort()).toEqual([
    ...['documentedLimits', 'hostileHeaders', 'outcomeByPrompt', 'outcomeByUrl', 'startEmulator'],
  ])
})

// that it imports nothing but itself and Node modules: test/elegance/import-direction.test.ts
test('the emulator uses no runtime globals and no environment variables', () => {
  for (const file of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    expect(readFileSync(new URL(file, FOLDER), 'utf8')).not.toMatch(/\b(Bun|Deno)\.|process\.env/)
  }
})
