import { existsSync, readFileSync } from 'node:fs'

/** Whether a file of the repository has a test with this title, as it stands in the source, which is not skipped. */
export const hasTest = (file: string, title: string): boolean => {
  const url = new URL(`../../${file}`, import.meta.url)
  const quoted = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const call = new RegExp(`\\btest(?!\\.(?:skip|todo)\\b)[^\\n]*\\(\\s*(['"\`])${quoted}\\1,`)
  return file.endsWith('.test.ts') && existsSync(url) && call.test(readFileSync(url, 'utf8'))
}
