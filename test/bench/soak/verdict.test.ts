import { describe, expect, test } from 'bun:test'
import { type Reading, type Rest, verdictOf } from './verdict.ts'

const bounds = { memory: 0.1, warmUp: 1 / 6, idle: 8 }
const rest = (more: Partial<Rest> = {}): Rest => ({
  descriptors: 20,
  sockets: 10,
  rows: new Map([['groups', 3]]),
  ...more,
})

/** Half an hour in steps of ten seconds: 40 MiB in the first minutes, then what a collection leaves, and garbage of up to 30 MiB. */
const readings = (perMinute: number): readonly Reading[] =>
  Array.from({ length: 180 }, (_, nth) => {
    const minutes = nth / 6
    const memory = 100 + 40 * Math.min(1, minutes / 4) + perMinute * minutes + ((nth * 7) % 31)
    return { at: nth * 10, memory, descriptors: 30, sockets: 20 }
  })

const flatOf = (...args: Parameters<typeof verdictOf>) =>
  Object.fromEntries(verdictOf(...args).map(({ what, flat }) => [what, flat]))

const allFlat = { memory: true, descriptors: true, sockets: true, rows: true, records: true }

describe('the verdict of a soak', () => {
  test('is flat for memory that only warms up, and for garbage', () => {
    expect(flatOf(readings(0), rest(), rest(), bounds)).toEqual(allFlat)
  })

  test('finds memory that grows by a little more than allowed', () => {
    expect(flatOf(readings(0.15), rest(), rest(), bounds)).toEqual({ ...allFlat, memory: false })
    expect(flatOf(readings(0.05), rest(), rest(), bounds)).toEqual(allFlat)
  })

  test('finds descriptors and sockets that are left, but for idle connections of clients', () => {
    const idle = rest({ descriptors: 28, sockets: 18 })
    expect(flatOf(readings(0), rest(), idle, bounds)).toEqual(allFlat)
    const left = rest({ descriptors: 29, sockets: 19 })
    expect(flatOf(readings(0), rest(), left, bounds)).toEqual({ ...allFlat, descriptors: false, sockets: false })
  })

  test('finds rows that are left, also of a new table, and tells them from records', () => {
    const fewer = rest({
      rows: new Map([
        ['groups', 1],
        ['audit_entries', 900],
      ]),
    })
    expect(flatOf(readings(0), rest(), fewer, bounds)).toEqual(allFlat)
    const more = rest({
      rows: new Map([
        ['groups', 3],
        ['drafts', 1],
      ]),
    })
    const findings = verdictOf(readings(0), rest(), more, bounds)
    expect(findings.find(({ what }) => what === 'rows')).toEqual({
      what: 'rows',
      text: 'left over: 1 of drafts',
      flat: false,
    })
  })
})
