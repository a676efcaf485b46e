import { expect, test } from 'bun:test'
import { readConfig } from '../../src/config.ts'

test('a list of limits that is not valid, and a time zone that does not exist, are problems with the place of the fault', () => {
  const config = readConfig({
    USER_LIMITS: '[{"unit":"tokens","amount":1},{"unit":"tokens","amount":1,"window":"year"}]',
    ACCOUNT_LIMITS: '{"unit":"tokens"',
    LIMITS_TIME_ZONE: 'Europe/Atlantis',
  })
  expect('problems' in config && config.problems.toSorted()).toEqual([
    'ACCOUNT_LIMITS must be a list of limits, as JSON',
    'LIMITS_TIME_ZONE must be the IANA name of a time zone, such as Asia/Shanghai',
    'USER_LIMITS: limits[1].window must be one of minute, hour, day, week, month, or absent',
  ])
})

test('an entry that has a member twice is a problem', () => {
  const config = readConfig({ USER_LIMITS: '[{"unit":"requests","amount":1,"amo\\u0075nt":99}]' })
  expect('problems' in config && config.problems).toEqual(['USER_LIMITS: a field stands twice in an entry'])
})

test('the lists and the time zone are read', () => {
  const config = readConfig({
    USER_LIMITS: '[{"unit":"requests","amount":60,"window":"minute"}]',
    ACCOUNT_LIMITS: '[{"unit":"cost","amount":0.5,"window":"month","model":"m-*"},{"unit":"groups","amount":0}]',
    LIMITS_TIME_ZONE: 'america/new_york',
  })
  expect('usageLimits' in config && config.usageLimits).toEqual({
    userLimits: [{ unit: 'requests', amount: 60, window: 'minute' }],
    accountLimits: [
      { unit: 'cost', amount: 0.5, window: 'month', model: 'm-*' },
      { unit: 'groups', amount: 0 },
    ],
    timeZone: 'America/New_York',
  })
})

test('an offset is no time zone, because it has no rules for the change of clock', () => {
  for (const zone of ['+05:30', '-08:00', '5', 'UTC+1']) {
    expect(readConfig({ LIMITS_TIME_ZONE: zone })).toHaveProperty('problems')
  }
})
