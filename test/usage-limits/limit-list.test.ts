import { expect, test } from 'bun:test'
import { parseLimits } from 'sluice/usage-limits'
import { coversModel } from '../../plugins/usage-limits/limit.ts'

const day = { unit: 'tokens', amount: 10, window: 'day' }

const problemOf = (value: unknown): string | undefined => {
  const limits = parseLimits(value)
  return 'problem' in limits ? limits.problem : undefined
}

test('a list keeps its order, and a member that is null counts as absent', () => {
  expect(
    parseLimits([
      { unit: 'cost', amount: 0.25, window: 'month', model: 'gpt-*' },
      { unit: 'cost', amount: 0.25, window: null, model: 'gpt-*' },
      { unit: 'groups', amount: 0, window: null, model: null },
      day,
      { ...day, model: '*' },
    ]),
  ).toEqual([
    { unit: 'cost', amount: 0.25, window: 'month', model: 'gpt-*' },
    { unit: 'cost', amount: 0.25, model: 'gpt-*' },
    { unit: 'groups', amount: 0 },
    { unit: 'tokens', amount: 10, window: 'day' },
    { unit: 'tokens', amount: 10, window: 'day', model: '*' },
  ])
  expect(parseLimits([])).toEqual([])
})

test('each fault is told with its place', () => {
  const units = 'requests, tokens, cost, videos, video_seconds, running_videos, streams, groups, assets, storage_bytes'
  const integer = `limits[0].amount must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`
  const cost = 'limits[0].amount must be a number from 0 to 9000000'
  const model = 'limits[0].model must be a model of 1 to 256 characters, with * at the end only'
  const faults: readonly [unknown, string][] = [
    [null, 'limits must be a list'],
    [{ 0: day }, 'limits must be a list'],
    [Array(51).fill(day), 'limits must have at most 50 entries'],
    [[day, 7], 'limits[1] must be an object'],
    [[day, [day]], 'limits[1] must be an object'],
    [[{ ...day, per: 'user' }], 'limits[0] must have no members but unit, amount, window, model'],
    [[{ ...day, unit: 'toString' }], `limits[0].unit must be one of ${units}`],
    [[{ ...day, unit: ['tokens'] }], `limits[0].unit must be one of ${units}`],
    ...[undefined, '10', -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53].map((amount): [unknown, string] => [
      [{ ...day, amount }],
      integer,
    ]),
    ...['1', -0.1, Number.NaN, Number.POSITIVE_INFINITY, 9_000_001].map((amount): [unknown, string] => [
      [{ unit: 'cost', amount }],
      cost,
    ]),
    [
      [day, { unit: 'tokens', amount: 1, window: 'fortnight' }],
      'limits[1].window must be one of minute, hour, day, week, month, or absent',
    ],
    [[{ ...day, window: ['day'] }], 'limits[0].window must be one of minute, hour, day, week, month, or absent'],
    [
      [{ unit: 'streams', amount: 1, window: 'day' }],
      'limits[0].window must be absent: streams are counted as they exist',
    ],
    [
      [{ unit: 'storage_bytes', amount: 1, model: 'm' }],
      'limits[0].model must be absent: storage_bytes are counted for all models together',
    ],
    ...['', 'a*b', '**', '*a', 'a'.repeat(257), 'a\n', '\ud800', 7].map((value): [unknown, string] => [
      [{ ...day, model: value }],
      model,
    ]),
    [[day, { ...day, amount: 20 }], 'limits[1] must not have the unit, window and model of limits[0]'],
  ]
  for (const [value, problem] of faults) expect(problemOf(value)).toBe(problem)
})

test('a limit covers the model that it names, or all whose names begin as it says', () => {
  const covered = (model: string | undefined, of: string | undefined) => coversModel({ ...(model && { model }) }, of)
  expect([covered(undefined, undefined), covered(undefined, 'm'), covered('*', 'm')]).toEqual([true, true, true])
  expect([covered('m', 'm'), covered('m-*', 'm-1'), covered('m-*', 'm-')]).toEqual([true, true, true])
  expect([covered('m', 'm1'), covered('m', undefined), covered('m-*', 'm'), covered('m-*', 'n-m-1')]).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect(covered('*', undefined)).toBe(false)
})
