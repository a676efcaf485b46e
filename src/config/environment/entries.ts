import { jsonOrFile } from './json-or-file.ts'
import { key, printableForm } from './parsers.ts'
import type { Environment } from './reader.ts'

// Settings that are lists of JSON objects: their credentials are in variables that they name.

/** The entries of a list, as JSON or in the file that the text names. Undefined: it is no list, or empty. */
export const listIn = (text: string): readonly unknown[] | undefined => {
  const list = jsonOrFile(text)
  return Array.isArray(list) && list.length > 0 ? list : undefined
}

/** The credential in the variable that a field names. Reports what is wrong, and returns undefined then. */
export const credentialIn = (
  env: Environment,
  field: string,
  variable: unknown,
  report: (problem: string) => void,
): string | undefined => {
  if (typeof variable !== 'string' || !/^\w+$/.test(variable)) {
    report(`.${field} must be the name of a variable`)
    return undefined
  }
  const value = key(env[variable] ?? '')
  if (value === undefined)
    report(`.${field} names a variable that is not set, or has other than ${printableForm.replace('must be ', '')}`)
  return value
}

/** Reports the fields of an entry that are not known. @param credentials those that a field with `Env` must name */
export const reportUnknown = (
  entry: Readonly<Record<string, unknown>>,
  known: readonly string[],
  credentials: readonly string[],
  report: (problem: string) => void,
): void => {
  for (const name of Object.keys(entry)) {
    if (known.includes(name)) continue
    if (credentials.includes(name)) report(`.${name} must be given by ${name}Env, the name of a variable`)
    else report(/^\w{1,64}$/.test(name) ? `.${name} is not a setting` : ' has a field that is not a setting')
  }
}
