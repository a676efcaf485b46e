import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeIf } from '../support/run-if.ts'
import { findProgram, operatingFile, run } from './fixture.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
}
interface RuleTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[]
}

const testsFile = join(import.meta.dir, 'alert-rules.yml')
const parse = (path: string) => Bun.YAML.parse(readFileSync(path, 'utf8'))
const { groups } = parse(operatingFile('alerts.yml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const testsOfRules = parse(testsFile) as { tests: readonly RuleTest[] }
const { tests } = testsOfRules
const cases = tests.flatMap((each) => each.alert_rule_test)

test('each alert rule has a case in which it fires, and one in which it does not', () => {
  const names = (fires: boolean) =>
    new Set(cases.filter(({ exp_alerts = [] }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname))
  const expected = rules.map(({ alert }) => alert).sort()
  expect([...names(true)].sort()).toEqual(expected)
  expect([...names(false)].sort()).toEqual(expected)
})

const promtool = findProgram('promtool')
describeIf(promtool !== undefined, 'promtool is not installed')('the alert rules by promtool', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-alerts-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** @param alert only the tests with cases of this one; default: all */
  const runTests = async (content: string, alert?: string) => {
    const chosen = tests.filter(
      (each) => alert === undefined || each.alert_rule_test.some((one) => one.alertname === alert),
    )
    // Prometheus reads JSON as YAML.
    await writeFile(join(folder, 'tests.yml'), JSON.stringify({ ...testsOfRules, tests: chosen }))
    await writeFile(join(folder, 'alerts.yml'), content)
    const { status, output, errors } = await run([promtool ?? '', 'test', 'rules', join(folder, 'tests.yml')])
    return { status, output: output + errors }
  }

  test('fire in their cases, and not before', async () => {
    expect(await runTests(readFileSync(operatingFile('alerts.yml'), 'utf8'))).toMatchObject({ status: 0 })
  })

  for (const { alert } of rules) {
    test(`a ${alert} that never fires, or always, is found`, async () => {
      for (const expr of ['vector(0) > 1', 'up >= 0 or vector(1)']) {
        const changed = rules.map((rule) => (rule.alert === alert ? { ...rule, expr } : rule))
        const content = JSON.stringify({ groups: [{ name: 'changed', rules: changed }] })
        const { status, output } = await runTests(content, alert)
        expect([status, output]).toEqual([1, expect.stringContaining(`alertname: ${alert},`)])
      }
    })
  }
})
