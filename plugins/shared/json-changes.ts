import type { Json } from './json-value.ts'

/** A key and its new value. Undefined removes the key. */
export type MemberChange = readonly [key: string, value: Json | undefined]

/** New values by key. Undefined removes the key. */
export type MemberChanges = ReadonlyMap<string, Json | undefined>

/** Whether a new value differs from the current values of a key. */
export const isChange = ([current, ...duplicates]: readonly Json[] = [], value: Json | undefined): boolean => {
  if (!value || !current || duplicates.length > 0) return value !== current
  return current.byteLength !== value.byteLength || current.raw !== value.raw
}

/** Separates changes of existing keys from added members. */
export const splitChanges = (
  wanted: MemberChanges,
  existing: ReadonlyMap<string, unknown>,
): readonly [changes: MemberChanges, added: ReadonlyMap<string, Json>] => {
  const changes = new Map<string, Json | undefined>()
  const added = new Map<string, Json>()
  for (const [key, value] of wanted) {
    if (existing.has(key)) changes.set(key, value)
    else if (value) added.set(key, value)
  }
  return [changes, added]
}
