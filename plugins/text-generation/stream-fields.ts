import type { Json, MemberChange } from '../shared/json.ts'

/** Changes that remove the fields about streaming, which both protocols share. */
export const withoutStreamFields: readonly MemberChange[] = [
  ['stream', undefined],
  ['stream_options', undefined],
]

/** The request without the fields about streaming: for an upstream that cannot stream. */
export const withoutStream = (request: Json): Json => request.edit(withoutStreamFields)
