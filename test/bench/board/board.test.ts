import { describe, expect, test } from 'bun:test'
import { readBoardOptions } from './board.ts'
import { boardOf, type Figures, type Score } from './columns.ts'
import { slopeOf } from './growth.ts'

const score = (target: string, kind: Score['kind'], figures: Figures): Score => ({ target, kind, figures })

describe('the board', () => {
  test('shows the measured columns of each target', () => {
    const { columns, rows } = boardOf([
      score('bare bun relay', 'reference', { added50: 0.1, cpu: 30 }),
      score('sluice on', 'own', { added50: 0.25, cpu: 90.4 }),
    ])
    expect(columns).toEqual(['p50 ms', 'µs CPU'])
    expect(rows.map(({ target, cells }) => [target, ...cells])).toEqual([
      ['bare bun relay', '0.10', '30'],
      ['sluice on', '0.25', '90'],
    ])
  })

  test('says which goals are met', () => {
    const met = boardOf([score('sluice on', 'own', { added99: 0.4, streams: 512, event: 9 })])
    expect(met.notes?.map((note) => note.split(': ').at(-1))).toEqual(['met', 'met', 'met'])
    const missed = boardOf([score('sluice on', 'own', { added99: 0.41, streams: 511, event: 11 })])
    expect(missed.notes?.map((note) => note.split(': ').at(-1))).toEqual(['missed', 'missed', 'missed'])
  })

  test('compares the rates with Portkey’s, at each bound', () => {
    const { notes } = boardOf([
      score('portkey', 'peer', { rate1: 0, rate5: 100, rate10: 100 }),
      score('sluice on', 'own', { rate1: 1_000, rate5: 1_400, rate10: 1_390 }),
    ])
    expect(notes).toContain('sluice on: /s at 1 ms, Portkey has none')
    expect(notes).toContain("sluice on: /s at 5 ms 14.0 times Portkey's, goal 14: met")
    expect(notes).toContain("sluice on: /s at 10 ms 13.9 times Portkey's, goal 14: missed")
  })

  test('says where a peer was better, but not where the relay was', () => {
    const { notes } = boardOf([
      score('bare bun relay', 'reference', { cpu: 30, growth: -3 }),
      score('portkey', 'peer', { cpu: 800, rate5: 100, growth: -2 }),
      score('litellm', 'peer', { cpu: 80, rate5: 2_000, growth: 1 }),
      score('sluice on', 'own', { cpu: 90, rate5: 1_400, growth: -1 }),
    ])
    expect(notes?.filter((note) => note.includes('was better'))).toEqual([
      'portkey was better than sluice on in none of 3 columns',
      'litellm was better than sluice on in /s at 5 ms (2000 against 1400), µs CPU (80 against 90)',
    ])
  })
})

test('the growth is the slope of the line through the samples', () => {
  const line = [0, 1, 2, 3, 4].map((at) => ({ at, value: 100 + 2 * at }))
  expect(slopeOf(line)).toBeCloseTo(2)
  // One outlier on each side of the middle changes nothing.
  expect(slopeOf(line.map(({ at, value }) => ({ at, value: value + (at === 1 || at === 3 ? 50 : 0) })))).toBeCloseTo(2)
  expect(slopeOf([{ at: 3, value: 7 }])).toBe(0)
  expect(slopeOf([])).toBe(0)
})

describe('the arguments of the board', () => {
  test('default to every measurement and every gateway', () => {
    const { measured, against, fronts, workers, unitSeconds } = readBoardOptions([])
    expect(measured).toEqual(['latency', 'first-event', 'event', 'cpu', 'rates', 'streams', 'memory'])
    expect(against).toEqual(['bun', 'portkey', 'litellm'])
    expect([fronts, workers, unitSeconds]).toEqual([['on', 'off'], [1], 1])
    expect(readBoardOptions(['--workers', '1,2']).workers).toEqual([1, 2])
  })

  for (const args of [
    ['nonsense'],
    ['--against', 'nginx'],
    ['--front', 'both'],
    ['--seconds', '0'],
    ['--workers', '0'],
    ['--workers', '1,x'],
    ['--speed', '1'],
  ]) {
    test(`${args.join(' ')} is rejected`, () => {
      expect(() => readBoardOptions(args)).toThrow()
    })
  }
})
