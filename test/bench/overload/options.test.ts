import { describe, expect, test } from 'bun:test'
import { testIf } from '../../support/run-if.ts'
import { numbersOf, onProcessors, processors } from '../processors.ts'
import { readOverloadOptions } from './options.ts'

describe('--separate', () => {
  const read = (available: readonly number[]) => readOverloadOptions(['--separate'], available).separate

  test('gives the first processor to the server, and the others to everything else', () => {
    expect(read([2, 3, 5])).toEqual({ server: [2], load: [3, 5] })
  })

  test('is rejected with one processor, and where those of a process cannot be chosen', () => {
    for (const available of [[0], []]) expect(() => read(available)).toThrow('--separate needs two processors')
  })

  test('is not the default', () => {
    expect(readOverloadOptions([], [0, 1]).separate).toBeUndefined()
  })
})

test('a list of processors has numbers and ranges', () => {
  expect(numbersOf('0')).toEqual([0])
  expect(numbersOf('0-2,5,7-8')).toEqual([0, 1, 2, 5, 7, 8])
})

testIf(processors().length > 1, 'needs two processors')('a process runs on its processors only', async () => {
  const [, second = 0] = processors()
  const command = onProcessors([second], ['grep', 'Cpus_allowed_list', '/proc/self/status'])
  expect(String(Bun.spawnSync(command).stdout).trim()).toEndWith(`\t${second}`)
})
