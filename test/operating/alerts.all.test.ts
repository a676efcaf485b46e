/** Runs with `--all`: promtool is started twice for each alert rule. alerts.test.ts runs the rules as they are, and all of them changed at once. */
import { expect, test } from 'bun:test'
import { describeIf } from '../support/run-if.ts'
import { promtool, rules, runRuleTests } from './alert-rules.ts'

describeIf(promtool !== undefined, 'promtool is not installed')('the cases of the alert rules', () => {
  for (const { alert } of rules) {
    test(`a ${alert} that never fires, or always, is found`, async () => {
      for (const expr of ['vector(0) > 1', 'up >= 0 or vector(1)']) {
        const changed = rules.map((rule) => (rule.alert === alert ? { ...rule, expr } : rule))
        const content = JSON.stringify({ groups: [{ name: 'changed', rules: changed }] })
        const { status, output } = await runRuleTests(content, alert)
        expect([status, output]).toEqual([1, expect.stringContaining(`alertname: ${alert},`)])
      }
    })
  }
})
