import { describe, expect, test } from 'bun:test'
import { selectRange } from '../../plugins/file-storage/downloads/download.ts'

const info = { size: 100, modifiedAt: Date.UTC(2026, 7, 1, 12, 0, 0, 500), etag: '"one"' }
const modified = 'Sat, 01 Aug 2026 12:00:00 GMT'
const select = (headers: Record<string, string>, file = info) => selectRange(new Headers(headers), file)
const whole = { status: 200, range: { first: 0, last: 99 } } as const

describe('a range', () => {
  test.each([
    ['bytes=0-9', 0, 9],
    ['bytes=90-', 90, 99],
    ['bytes=90-1000', 90, 99],
    ['bytes=-10', 90, 99],
    ['bytes=-1000', 0, 99],
    ['Bytes=99-99', 99, 99],
    ['bytes=0-0', 0, 0],
    ['bytes=0-999999999999999', 0, 99],
  ])('%s', (range, first, last) => {
    expect(select({ range })).toEqual({ status: 206, range: { first, last } })
  })

  test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', 'bytes=999999999999999-'])('%s is not in the file', (range) => {
    expect(select({ range })).toEqual({ status: 416 })
  })

  test.each([
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=9-0',
    'bytes=0-1,5-6',
    'bytes=0-,0-,0-,0-',
    'items=0-9',
    'bytes=a-b',
    'bytes=0x1-2',
    'bytes=1e1-20',
    'bytes=-1-5',
    'bytes=0-9999999999999999',
  ])('%p is ignored', (range) => {
    expect(select({ range })).toEqual(whole)
  })

  test('of an empty file is not in it', () => {
    expect(select({ range: 'bytes=0-' }, { ...info, size: 0 })).toEqual({ status: 416 })
    expect(select({}, { ...info, size: 0 })).toEqual({ status: 200, range: { first: 0, last: -1 } })
  })

  test('counts only for the file of If-Range', () => {
    const range = 'bytes=0-9'
    expect(select({ range, 'if-range': '"one"' }).status).toBe(206)
    expect(select({ range, 'if-range': modified }).status).toBe(206)
    expect(select({ range, 'if-range': '"two"' })).toEqual(whole)
    expect(select({ range, 'if-range': 'W/"one"' })).toEqual(whole)
    expect(select({ range, 'if-range': 'Sat, 01 Aug 2026 12:00:01 GMT' })).toEqual(whole)
    expect(select({ range: 'bytes=200-', 'if-range': '"two"' })).toEqual(whole)
  })
})

describe('a conditional request', () => {
  test.each([
    [{ 'if-none-match': '"one"' }, 304],
    [{ 'if-none-match': '"zero", W/"one"' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"two"' }, 200],
    [{ 'if-none-match': '"two"', 'if-modified-since': modified }, 200],
    [{ 'if-modified-since': modified }, 304],
    [{ 'if-modified-since': 'Sat, 01 Aug 2026 11:59:59 GMT' }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
    [{ 'if-none-match': '"one"', range: 'bytes=0-1' }, 304],
  ])('%p: %p', (headers, status) => {
    expect(select(headers as unknown as Record<string, string>).status).toBe(status as never)
  })
})
