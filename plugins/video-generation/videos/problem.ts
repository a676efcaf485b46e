import { adviceFor } from '../../failure-advice/index.ts'
import { FieldProblem, fieldProblemBody } from '../../shared/field-problem.ts'
import { asJsonObject, parsedJson } from '../../shared/json/parsed.ts'
import type { ProblemBody } from '../../shared/problem.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import { itemsIn } from '../upstream/person-refusal.ts'

/** The fields of these routes, by the beginning of the name that the native API has for them. */
export type FieldNames = Readonly<Record<string, string>>

/** Names of fields in a native request that `toTask` has composed. */
export const createNames: FieldNames = {
  'content[0]': 'prompt',
  'content[1]': 'input_reference',
  duration: 'seconds',
  resolution: 'size',
  ratio: 'size',
}

/** The same for `toDerivedTask`. */
export const derivedNames: FieldNames = { ...createNames, 'content[1]': 'video' }

/**
 * Translates an error of the native API, also one that the upstream has sent, to the form of the OpenAI API: the names
 * of fields become those of the caller's request. Other errors remain.
 */
export const translateError = (error: unknown, names: FieldNames): unknown => {
  const problem = error instanceof UpstreamRejectedError ? rejectionOf(error) : error
  if (!(problem instanceof FieldProblem) || problem.param === undefined) return problem
  const { param, message } = problem
  const name = nameIn(param, names)
  if (name === param) return problem
  const Translated = problem instanceof VendorProblem ? VendorProblem : FieldProblem
  return new Translated(problem.status, message.startsWith(param) ? name + message.slice(param.length) : message, {
    param: name,
    code: problem.code,
    headers: problem.headers,
    event: problem.event,
    cause: problem.cause,
  })
}

/** The field of the caller's request for a path in the native one. A path that it does not have remains. */
export const nameIn = (param: string, names: FieldNames): string =>
  Object.entries(names).find(([native]) => param.startsWith(native))?.[1] ?? param

/** `{"error":{"code","message","param","type"}}` */
const rejectionOf = (rejected: UpstreamRejectedError): VendorProblem => {
  const { status, headers, bytes } = rejected.response
  const { code, message, param } = asJsonObject(asJsonObject(parsedJson(bytes))?.error) ?? {}
  // Every 429 and 503 of the gateway says when to try again.
  const retryAfter = headers.get('retry-after') ?? (status === 429 || status === 503 ? '5' : null)
  return new VendorProblem(status, typeof message === 'string' ? message : rejected.message, {
    ...(typeof code === 'string' && { code }),
    ...paramIn(typeof param === 'string' ? param : '', typeof message === 'string' ? message : ''),
    ...(retryAfter !== null && { headers: { 'retry-after': retryAfter } }),
  })
}

/** Some errors name the item of `content` in the message only. */
const paramIn = (param: string, message: string): { readonly param?: string } => {
  const [index] = itemsIn(message)
  if (param !== '') return { param }
  return index === undefined ? {} : { param: `content[${index}]` }
}

/** An error that the upstream has sent. */
class VendorProblem extends FieldProblem {}

/** The error object of the OpenAI API. A code of the vendor has what to do about it. */
export const videosProblemBody: ProblemBody = (problem) => {
  const body = fieldProblemBody(problem)
  const { code, message } = problem instanceof VendorProblem ? problem : { message: '' }
  const advice = code === undefined ? undefined : adviceFor(code, message)
  return advice && 'error' in body ? { error: { ...Object(body.error), advice } } : body
}
