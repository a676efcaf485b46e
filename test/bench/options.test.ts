import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { readOptions } from './options.ts'

describe('the arguments of the bench', () => {
  test('default to this checkout, both values of GET_BODIES, SQLite and all cases', () => {
    const { cases, settings, pace } = readOptions([])
    expect(cases.length).toBeGreaterThan(10)
    expect([...settings.keys()]).toEqual(['sluice on', 'sluice off'])
    expect(settings.get('sluice on')).toEqual({
      tree: resolve('.'),
      front: 'on',
      database: 'sqlite',
      workers: 1,
      large: false,
      limited: false,
    })
    expect(pace.warmSeconds).toBe(5)
  })

  test('give each combination of checkout, database, workers and size a unique name', () => {
    const { settings } = readOptions(
      'detail --tree a --tree b --front off --database sqlite,postgres --workers 1,2 --large --limits'.split(' '),
    )
    expect(settings.size).toBe(32)
    expect([...settings.keys()]).toContain('b off postgres 2 workers large limits')
  })

  test('name checkouts with equal folder names by their paths', () => {
    const { trees } = readOptions(['--tree', '/one/main', '--tree', '/two/main'])
    expect(trees.map(({ name }) => name)).toEqual(['/one/main', '/two/main'])
  })

  for (const args of [
    ['nonsense'],
    ['--rounds', 'x'],
    ['--front', 'both'],
    ['--against', 'nobody'],
    ['--speed', '1'],
  ]) {
    test(`${args.join(' ')} is rejected`, () => {
      expect(() => readOptions(args)).toThrow()
    })
  }
})
