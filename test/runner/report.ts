/** What the runner's JUnit report says of one run. */
export interface TestReport {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Number of skipped tests, by reason: what a title has in brackets at the end of a group or of the test, else the file and the title. */
  readonly skippedByReason: ReadonlyMap<string, number>
  /** Number of failed tests, by file. Files without failures are absent. */
  readonly failuresByFile: ReadonlyMap<string, number>
}

/** Reads a report as `bun test --reporter=junit` writes it: nested suites of `<testcase>`, each with an optional `<failure>`, `<error>` or `<skipped>`. */
export const readReport = (xml: string): TestReport => {
  const skippedByReason = new Map<string, number>()
  const failuresByFile = new Map<string, number>()
  let passed = 0
  let failed = 0
  let skipped = 0
  for (const [, attributes = '', body = ''] of xml.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const file = attributeOf(attributes, 'file')
    if (body.includes('<skipped')) {
      skipped++
      const title = titleOf(attributes)
      const reason = /\[([^\]]+)\](?= > |$)/.exec(title)?.[1] ?? `no reason given: ${file}: ${title}`
      skippedByReason.set(reason, (skippedByReason.get(reason) ?? 0) + 1)
    } else if (/<(?:failure|error)[ >]/.test(body)) {
      failed++
      failuresByFile.set(file, (failuresByFile.get(file) ?? 0) + 1)
    } else {
      passed++
    }
  }
  return { passed, failed, skipped, skippedByReason, failuresByFile }
}

/** The report names the groups of a test from the inside out. */
const titleOf = (attributes: string): string => {
  const groups = attributeOf(attributes, 'classname').split(' > ').toReversed()
  return [...groups, attributeOf(attributes, 'name')].filter((part) => part !== '').join(' > ')
}

const attributeOf = (attributes: string, name: string): string =>
  decode(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? '')

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

const decode = (text: string): string =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code === undefined ? (entities[name] ?? whole) : String.fromCodePoint(Number(code)),
  )
