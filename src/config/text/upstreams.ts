import { isJsonObject } from '../../../plugins/shared/json/parsed.ts'
import type { TextUpstream } from '../../../plugins/text-generation/models/routing.ts'
import { credentialsOf } from '../../../plugins/text-generation/upstream/credentials.ts'
import {
  modelFields,
  upstreamFields,
  upstreamProblems,
} from '../../../plugins/text-generation/upstream/upstream-options.ts'
import { jsonOrFile } from '../environment/json-or-file.ts'
import { address, key, printableForm, webAddress } from '../environment/parsers.ts'
import type { Environment, Read } from '../environment/reader.ts'

/**
 * Reads the upstreams of text generation: `TEXT_UPSTREAMS`, or `TEXT_UPSTREAM_URL` and `TEXT_UPSTREAM_KEY` for a single
 * one.
 *
 * `TEXT_UPSTREAMS` is a JSON list of `TextUpstream`, or `@FILE` for a file with one. Instead of `key`, an entry has
 * `keyEnv`: the variable with the key.
 */
export const readTextUpstreams = (
  env: Environment,
  read: Read,
  addProblem: (problem: string) => void,
): readonly TextUpstream[] => {
  const url = read('TEXT_UPSTREAM_URL', webAddress, address)
  const upstreamKey = read('TEXT_UPSTREAM_KEY', printableForm, key)
  if (env.TEXT_UPSTREAM_URL && env.TEXT_UPSTREAMS)
    addProblem('TEXT_UPSTREAM_URL and TEXT_UPSTREAMS must not both be set')
  const entries = read(
    'TEXT_UPSTREAMS',
    'must be a JSON list of upstreams, or @ and the path of a file with one',
    listIn,
  )
  if (!entries) return url === undefined ? [] : [{ url, key: upstreamKey }]
  const report = (problem: string) => addProblem(`TEXT_UPSTREAMS${problem}`)
  const upstreams = entries.map((entry, index) => toUpstream(entry, env, (problem) => report(`[${index}]${problem}`)))
  for (const problem of upstreamProblems(upstreams)) report(problem)
  return upstreams as readonly TextUpstream[]
}

/** The credentials of upstreams. No log line may contain one. */
export const textSecrets = (upstreams: readonly TextUpstream[]): readonly string[] => upstreams.flatMap(credentialsOf)

const listIn = (text: string): readonly unknown[] | undefined => {
  const list = jsonOrFile(text)
  return Array.isArray(list) && list.length > 0 ? list : undefined
}

/**
 * An entry as `TextUpstream`: the address without a slash at its end, and the key. `upstreamProblems` checks the other
 * fields.
 */
const toUpstream = (entry: unknown, env: Environment, addProblem: (problem: string) => void): unknown => {
  if (!isJsonObject(entry)) return entry
  const { keyEnv, ...fields } = entry
  reportUnknown(
    fields,
    upstreamFields.filter((name) => name !== 'key'),
    addProblem,
  )
  if (Array.isArray(fields.models)) {
    for (const [index, model] of fields.models.entries())
      if (isJsonObject(model)) reportUnknown(model, modelFields, (problem) => addProblem(`.models[${index}]${problem}`))
  }
  const url = typeof fields.url === 'string' ? (address(fields.url) ?? fields.url) : fields.url
  return { ...fields, url, key: keyEnv === undefined ? undefined : keyIn(env, keyEnv, addProblem) }
}

const keyIn = (env: Environment, name: unknown, addProblem: (problem: string) => void): string | undefined => {
  if (typeof name !== 'string' || !/^\w+$/.test(name)) {
    addProblem('.keyEnv must be the name of a variable')
    return undefined
  }
  const value = key(env[name] ?? '')
  if (value === undefined)
    addProblem(`.keyEnv names a variable that is not set, or has other than printable ASCII characters without spaces`)
  return value
}

/** Reports fields that are no setting, for example misspelt ones. */
const reportUnknown = (
  entry: Readonly<Record<string, unknown>>,
  known: readonly string[],
  addProblem: (problem: string) => void,
): void => {
  for (const name of Object.keys(entry)) {
    if (known.includes(name)) continue
    if (name === 'key') addProblem('.key must be given by keyEnv, the name of a variable')
    else addProblem(/^\w{1,64}$/.test(name) ? `.${name} is not a setting` : ' has a field that is not a setting')
  }
}
