import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import * as door from '../../src/emulator/index.ts'

const FOLDER = new URL('../../src/emulator/', import.meta.url)

test('the door offers exactly this', () => {
  expect(Object.keys(door).sort()).toEqual(['DOCUMENTED_LIMITS', 'HOSTILE_HEADERS', 'outcomeByUrl', 'startEmulator'])
})

test('the emulator leans on node modules and itself alone', () => {
  for (const file of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const source = readFileSync(new URL(file, FOLDER), 'utf8')
    expect(source).not.toMatch(/\b(Bun|Deno)\.|process\.env/)
    for (const [, from = ''] of source.matchAll(/ from '([^']+)'/g)) {
      if (from.startsWith('.')) expect(new URL(from, new URL(file, FOLDER)).href).toStartWith(FOLDER.href)
      else expect(from).toMatch(/^node:[a-z/]+$/)
    }
  }
})
