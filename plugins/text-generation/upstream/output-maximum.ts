import { type Json, type MemberChange, toJson } from '../../shared/json/json.ts'
import type { Capabilities, MaxTokensField } from '../models/routing.ts'

const fields: readonly MaxTokensField[] = ['max_tokens', 'max_completion_tokens']

/**
 * Changes of a chat request about the maximum of its output.
 *
 * A maximum of -1 is removed. A larger one than the model's is lowered, and it gets the name that the model knows. If
 * there is none, the default is added.
 */
export const outputMaximumChanges = (
  request: Json,
  { maxTokens = Number.POSITIVE_INFINITY, maxTokensField }: Capabilities,
  defaultMaxTokens: number | undefined,
): MemberChange[] => {
  const changes: MemberChange[] = []
  let isSet = false
  for (const field of fields) {
    const value = request.get(field)
    if (!value || value.is('null')) continue
    if (isNoMaximum(value)) {
      changes.push([field, undefined])
      continue
    }
    isSet = true
    const maximum = lowered(value, maxTokens)
    const isRenamed = maxTokensField !== undefined && field !== maxTokensField
    if (isRenamed) changes.push([field, undefined])
    // Where the request has both fields, the one that the model knows decides.
    if (isRenamed ? !hasMaximum(request, maxTokensField) : maximum !== value)
      changes.push([maxTokensField ?? field, maximum])
  }
  if (!isSet && defaultMaxTokens !== undefined)
    changes.push([maxTokensField ?? 'max_tokens', toJson(Math.min(defaultMaxTokens, maxTokens))])
  return changes
}

/** The request of the Responses protocol, with at most the model's maximum of output. */
export const withOutputMaximum = (request: Json, { maxTokens }: Capabilities): Json => {
  const value = maxTokens === undefined ? undefined : request.get('max_output_tokens')
  return value && maxTokens !== undefined ? request.with('max_output_tokens', lowered(value, maxTokens)) : request
}

const lowered = (value: Json, maxTokens: number): Json =>
  maxTokens < Number.POSITIVE_INFINITY && value.isNumber && (value.value() as number) > maxTokens
    ? toJson(maxTokens)
    : value

const hasMaximum = (request: Json, field: MaxTokensField): boolean => {
  const value = request.get(field)
  return value !== undefined && !value.is('null') && !isNoMaximum(value)
}

/** Whether a maximum is -1. Clients of local servers send it for no maximum; other upstreams reject it. */
export const isNoMaximum = (json: Json | undefined): boolean => json?.byteLength === 2 && json.raw === '-1'
