/** A command of a page: its shell code, and what it prints. Undefined output: nothing. */
export interface PageCommand {
  readonly heading: string
  readonly code: string
  readonly output?: { readonly kind: 'json' | 'text'; readonly text: string }
  /** Variables that later commands use, and where the output has their values. */
  readonly variables: readonly (readonly [name: string, place: string])[]
}

/** The commands of a page in Markdown: each `sh` block, with the `json` or `text` block that follows it. */
export const commandsOf = (page: string): readonly PageCommand[] =>
  page.split(/^## /m).flatMap((section) => {
    const heading = section.slice(0, section.indexOf('\n'))
    const blocks = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, kind = '', text = '']) => ({
      kind,
      text,
    }))
    return blocks.flatMap(({ kind, text }, at) => {
      const next = blocks[at + 1]
      const output =
        next && (next.kind === 'json' || next.kind === 'text') ? { kind: next.kind, text: next.text } : undefined
      if (kind !== 'sh') return []
      const variables = [...text.matchAll(/^# (\w+) is (.+)$/gm)].map(
        ([, name = '', place = '']) => [name, place] as const,
      )
      return [{ heading, code: text, variables, ...(output && { output }) } as PageCommand]
    })
  })

/** JSON values that follow each other, with or without white space between them. */
export const jsonValues = (text: string): readonly unknown[] => {
  const values: unknown[] = []
  let [depth, begin, inText] = [0, 0, false]
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]
    if (inText) {
      if (mark === '\\') at++
      else if (mark === '"') inText = false
    } else if (mark === '"') inText = true
    else if (mark === '{' || mark === '[') depth++
    else if (mark === '}' || mark === ']') {
      depth--
      if (depth > 0) continue
      values.push(JSON.parse(text.slice(begin, at + 1)))
      begin = at + 1
    }
  }
  if (text.slice(begin).trim() !== '') throw new Error(`this is no JSON: ${text.slice(begin)}`)
  return values
}

/** Whether a text is as a page says, where `…` stands for any characters of one line. */
const matchesText = (expected: string, actual: string): boolean =>
  new RegExp(
    `^${expected
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+')}$`,
  ).test(actual)

/** What differs between JSON and that of a page, where `…` stands for any value, a part of a text, or further members. */
export const differences = (expected: unknown, actual: unknown, path = ''): readonly string[] => {
  if (expected === '…') return actual === undefined || actual === null ? [`${path} is missing`] : []
  if (typeof expected === 'string' && typeof actual === 'string')
    return matchesText(expected, actual) ? [] : [`${path} is ${JSON.stringify(actual)}`]
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null)
    return expected === actual ? [] : [`${path} is ${JSON.stringify(actual)}`]
  if (Array.isArray(expected) !== Array.isArray(actual)) return [`${path} is ${JSON.stringify(actual)}`]
  const { '…': more, ...members } = expected as Readonly<Record<string, unknown>>
  const found = actual as Readonly<Record<string, unknown>>
  const further = more === undefined ? Object.keys(found).filter((key) => !(key in members)) : []
  return [
    ...further.map((key) => `${path}.${key} is not on the page`),
    ...Object.entries(members).flatMap(([key, value]) => differences(value, found[key], `${path}.${key}`)),
  ]
}

/** The lines of an output that are not as a page says. */
export const differentLines = (expected: string, actual: string): readonly string[] => {
  const [wanted, lines] = [expected.trimEnd().split('\n'), actual.trimEnd().split(/\r?\n/)]
  if (wanted.length !== lines.length) return [`${lines.length} lines instead of ${wanted.length}:`, ...lines]
  return lines.filter((line, at) => !matchesText(wanted[at] ?? '', line))
}
