import { describe, expect, test } from 'bun:test'
import { type Collection, type Rest, verdictOf } from './verdict.ts'

const bounds = { memory: 0.1, warmUp: 1 / 6, idle: 8 }
const rest = (more: Partial<Rest> = {}): Rest => ({
  descriptors: 20,
  sockets: 10,
  rows: new Map([['groups', 3]]),
  ...more,
})

const mebibyte = 2 ** 20

/** Half an hour with a collection each half minute: 40 MiB in the first minutes, then a growth, of which half is in the heap. */
const collections = (perMinute: number): readonly Collection[] =>
  Array.from({ length: 61 }, (_, nth) => {
    const minutes = nth / 2
    const warm = 40 * Math.min(1, minutes / 4)
    const memory = mebibyte * (100 + warm + perMinute * minutes + 0.1 * ((nth * 7) % 3))
    const heap = mebibyte * (50 + warm / 2 + (perMinute / 2) * minutes)
    return { at: nth * 30, memory, heap, objects: {} }
  })

const flatOf = (...args: Parameters<typeof verdictOf>) =>
  Object.fromEntries(verdictOf(...args).map(({ what, flat }) => [what, flat]))

const allFlat = { memory: true, descriptors: true, sockets: true, rows: true, records: true }

describe('the verdict of a soak', () => {
  test('is flat for memory that only warms up', () => {
    expect(flatOf(collections(0), rest(), rest(), bounds)).toEqual(allFlat)
  })

  test('finds memory that grows by a little more than allowed', () => {
    expect(flatOf(collections(0.15), rest(), rest(), bounds)).toEqual({ ...allFlat, memory: false })
    expect(flatOf(collections(0.05), rest(), rest(), bounds)).toEqual(allFlat)
    const [{ text } = { text: '' }] = verdictOf(collections(0.2), rest(), rest(), bounds)
    expect(text).toStartWith('0.20 MiB a minute after the warm-up (at most 0.1), 0.10 in the JavaScript heap; 0.20 and')
  })

  test('finds descriptors and sockets that are left, but for idle connections of clients', () => {
    const idle = rest({ descriptors: 28, sockets: 18 })
    expect(flatOf(collections(0), rest(), idle, bounds)).toEqual(allFlat)
    const left = rest({ descriptors: 29, sockets: 19 })
    expect(flatOf(collections(0), rest(), left, bounds)).toEqual({ ...allFlat, descriptors: false, sockets: false })
  })

  test('finds rows that are left, also of a new table, and tells them from records', () => {
    const fewer = rest({
      rows: new Map([
        ['groups', 1],
        ['audit_entries', 900],
      ]),
    })
    expect(flatOf(collections(0), rest(), fewer, bounds)).toEqual(allFlat)
    const more = rest({
      rows: new Map([
        ['groups', 3],
        ['drafts', 1],
      ]),
    })
    const findings = verdictOf(collections(0), rest(), more, bounds)
    expect(findings.find(({ what }) => what === 'rows')).toEqual({
      what: 'rows',
      text: 'left over: 1 of drafts',
      flat: false,
    })
  })
})
