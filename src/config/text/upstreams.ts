import { isJsonObject } from '../../../plugins/shared/json/parsed.ts'
import type { TextUpstream } from '../../../plugins/text-generation/models/routing.ts'
import { credentialsOf } from '../../../plugins/text-generation/upstream/credentials.ts'
import {
  modelFields,
  upstreamFields,
  upstreamProblems,
} from '../../../plugins/text-generation/upstream/upstream-options.ts'
import { credentialIn, listIn, reportUnknown } from '../environment/entries.ts'
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

/**
 * An entry as `TextUpstream`: the address without a slash at its end, and the key. `upstreamProblems` checks the other
 * fields.
 */
const toUpstream = (entry: unknown, env: Environment, addProblem: (problem: string) => void): unknown => {
  if (!isJsonObject(entry)) return entry
  const { keyEnv, ...fields } = entry
  const known = upstreamFields.filter((name) => name !== 'key')
  reportUnknown(fields, known, ['key'], addProblem)
  for (const [index, model] of Array.isArray(fields.models) ? fields.models.entries() : []) {
    const report = (problem: string) => addProblem(`.models[${index}]${problem}`)
    if (isJsonObject(model)) reportUnknown(model, modelFields, ['key'], report)
  }
  const url = typeof fields.url === 'string' ? (address(fields.url) ?? fields.url) : fields.url
  return { ...fields, url, key: keyEnv === undefined ? undefined : credentialIn(env, 'keyEnv', keyEnv, addProblem) }
}
