import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { describeIf } from '../support/run-if.ts'
import { alertsFile, promtool, rules, runRuleTests, tests } from './alert-rules.ts'

const cases = tests.flatMap((each) => each.alert_rule_test)

test('each alert rule has a case in which it fires, and one in which it does not', () => {
  const names = (fires: boolean) =>
    new Set(cases.filter(({ exp_alerts = [] }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname))
  const expected = rules.map(({ alert }) => alert).sort()
  expect([...names(true)].sort()).toEqual(expected)
  expect([...names(false)].sort()).toEqual(expected)
})

// alerts.all.test.ts changes each rule.
describeIf(promtool !== undefined, 'promtool is not installed')('the alert rules by promtool', () => {
  test('fire in their cases, and not before', async () => {
    expect(await runRuleTests(readFileSync(alertsFile, 'utf8'))).toMatchObject({ status: 0 })
  })

  test('that never fire are found', async () => {
    const never = rules.map((rule) => ({ ...rule, expr: 'vector(0) > 1' }))
    const { status, output } = await runRuleTests(JSON.stringify({ groups: [{ name: 'changed', rules: never }] }))
    expect(status).toBe(1)
    for (const { alert } of rules) expect(output).toContain(`alertname: ${alert},`)
  })
})
