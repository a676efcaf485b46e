import { readFileSync, statSync } from 'node:fs'

/**
 * Parses JSON, or with `@PATH` the JSON of a file of at most 1 MiB. Undefined for anything else, also for a file that
 * cannot be read.
 */
export const jsonOrFile = (text: string): unknown => {
  try {
    return JSON.parse(text.startsWith('@') ? readSmallFile(text.slice(1)) : text)
  } catch {
    return undefined
  }
}

const readSmallFile = (path: string): string => {
  if (statSync(path).size > maxFileBytes) throw new Error('the file is too long')
  return readFileSync(path, 'utf8')
}

const maxFileBytes = 1_048_576
