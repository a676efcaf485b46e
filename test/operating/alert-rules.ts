import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, operatingFile, run } from './fixture.ts'

export interface Rule {
  readonly alert: string
  readonly expr: string
}
interface RuleTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[]
}

const testsFile = join(import.meta.dir, 'alert-rules.yml')
const parse = (path: string) => Bun.YAML.parse(readFileSync(path, 'utf8'))
const { groups } = parse(operatingFile('alerts.yml')) as { groups: { rules: Rule[] }[] }
/** The alert rules of the example. */
export const rules = groups.flatMap((group) => group.rules)
const testsOfRules = parse(testsFile) as { tests: readonly RuleTest[] }
export const { tests } = testsOfRules
export const alertsFile = operatingFile('alerts.yml')
export const promtool = findProgram('promtool')

/**
 * Runs the tests of the rules with promtool, in a folder of their own.
 *
 * @param content a file of rules
 * @param alert only the tests with cases of this one; default: all
 */
export const runRuleTests = async (content: string, alert?: string) => {
  const chosen = tests.filter(
    (each) => alert === undefined || each.alert_rule_test.some((one) => one.alertname === alert),
  )
  const folder = await mkdtemp(join(tmpdir(), 'sluice-alerts-'))
  try {
    // Prometheus reads JSON as YAML.
    await writeFile(join(folder, 'tests.yml'), JSON.stringify({ ...testsOfRules, tests: chosen }))
    await writeFile(join(folder, 'alerts.yml'), content)
    const { status, output, errors } = await run([promtool ?? '', 'test', 'rules', join(folder, 'tests.yml')])
    return { status, output: output + errors }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
