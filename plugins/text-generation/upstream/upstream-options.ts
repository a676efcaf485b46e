import { isJsonObject } from '../../shared/json/parsed.ts'
import { isUpstreamUrl, upstreamUrlForm } from '../../shared/plugin/options.ts'
import type { Capabilities, TextUpstream, UpstreamModel } from '../models/routing.ts'

/** What a field must be, in words, and a function that checks it. */
type Rule = readonly [expected: string, isValid: (value: unknown) => boolean]

const text: Rule = ['must be a text that is not empty', (value) => typeof value === 'string' && value !== '']
const flag: Rule = ['must be true or false', (value) => typeof value === 'boolean']
const count: Rule = ['must be an integer from 1', (value) => Number.isSafeInteger(value) && (value as number) >= 1]
const oneOf = (...values: readonly unknown[]): Rule => [
  `must be ${values.join(' or ')}`,
  (value) => values.includes(value),
]
/** Characters that a header can have (RFC 9110 section 5.5). */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/
const headerName = /^[\w!#$%&'*+.^`|~-]+$/

/** Headers that the gateway or the runtime sets. */
const reserved =
  /^(?:host|content-.*|accept|accept-encoding|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|via)$/i

const isHeaderName = (value: unknown): boolean =>
  typeof value === 'string' && headerName.test(value) && !reserved.test(value)

const capabilityRules: { readonly [Name in keyof Required<Capabilities>]: Rule } = {
  maxTemperature: oneOf(1, 2),
  maxTokens: count,
  maxTokensField: oneOf('max_tokens', 'max_completion_tokens'),
  streams: flag,
  reportsUsage: flag,
  chatOnly: flag,
  hostedTools: oneOf('reject', 'drop'),
}

const modelRules: { readonly [Name in keyof Required<UpstreamModel>]: Rule } = {
  id: text,
  alias: text,
  ownedBy: text,
  contextLength: count,
  ...capabilityRules,
}

const upstreamRules: { readonly [Name in keyof Required<TextUpstream>]: Rule } = {
  url: [upstreamUrlForm, isUpstreamUrl],
  name: ['must be letters, digits and . _ : -', (value) => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value)],
  key: ['must be a text that a header can have', (value) => typeof value === 'string' && headerValue.test(value)],
  keyHeader: ['must be the name of a header for credentials', isHeaderName],
  headers: [
    'must be an object of header names and values, without headers that the gateway sets',
    (value) =>
      isJsonObject(value) &&
      Object.entries(value).every(
        ([name, each]) => isHeaderName(name) && typeof each === 'string' && headerValue.test(each),
      ),
  ],
  models: ['must be a list that is not empty', (value) => Array.isArray(value) && value.length > 0],
  failover: flag,
  ...capabilityRules,
}

/**
 * Finds what is wrong with a list of upstreams: one text for each problem, which starts with the path of the field,
 * such as `[0].models[1].maxTokens`. No text has a value of the list, which may be a secret. Unknown fields are no
 * problems.
 */
export const upstreamProblems = (upstreams: unknown): readonly string[] =>
  Array.isArray(upstreams)
    ? upstreams.flatMap((upstream: unknown, index) => [
        ...fieldProblems(`[${index}]`, upstream, upstreamRules, ['url']),
        ...modelProblems(`[${index}].models`, isJsonObject(upstream) ? upstream.models : undefined),
      ])
    : [' must be a list']

const modelProblems = (path: string, models: unknown): readonly string[] => {
  if (!Array.isArray(models)) return []
  const names = models.map((model: unknown) => (isJsonObject(model) ? (model.alias ?? model.id) : model))
  return models.flatMap((model: unknown, index) => {
    const fields = typeof model === 'string' ? { id: model } : model
    const problems = fieldProblems(`${path}[${index}]`, fields, modelRules, ['id'])
    const isRepeated = problems.length === 0 && names.indexOf(names[index]) < index
    return isRepeated ? [`${path}[${index}] must have a name that no earlier model has`] : problems
  })
}

const fieldProblems = (
  path: string,
  value: unknown,
  rules: Readonly<Record<string, Rule>>,
  required: readonly string[],
): readonly string[] => {
  if (!isJsonObject(value)) return [`${path} must be an object`]
  return Object.entries(rules).flatMap(([name, [expected, isValid]]) => {
    const field = value[name]
    if (field === undefined && !required.includes(name)) return []
    return isValid(field) ? [] : [`${path}.${name} ${expected}`]
  })
}

/** Fields of an upstream, and of one of its models. */
export const upstreamFields: readonly string[] = Object.keys(upstreamRules)
export const modelFields: readonly string[] = Object.keys(modelRules)
