import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { pageScripts, sources } from './sources.ts'

/** A dozen. */
const maxFiles = 12

test('no room has more files at its top than a reader takes in at a glance', () => {
  const rooms = Map.groupBy([...sources('plugins', 'src'), ...pageScripts()], ({ path }) => dirname(path))
  expect(rooms.size).toBeGreaterThan(100)
  expect([...rooms].filter(([, files]) => files.length > maxFiles).map(([room]) => room)).toEqual([])
})
