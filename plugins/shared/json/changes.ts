/** New values by key. Undefined removes the key. */
export type Changes<Value> = ReadonlyMap<string, Value | undefined>

/** What is compared of two values. */
interface Text {
  readonly byteLength: number
  readonly raw: string
}

/** Whether a new value differs from the current values of a key. */
export const isChange = ([current, ...duplicates]: readonly Text[] = [], value: Text | undefined): boolean => {
  if (!value || !current || duplicates.length > 0) return value !== current
  return current.byteLength !== value.byteLength || current.raw !== value.raw
}

/** Separates changes of existing keys from added members. */
export const splitChanges = <Value>(
  wanted: Changes<Value>,
  existing: ReadonlyMap<string, unknown>,
): readonly [changes: Changes<Value>, added: ReadonlyMap<string, Value>] => {
  const changes = new Map<string, Value | undefined>()
  const added = new Map<string, Value>()
  for (const [key, value] of wanted) {
    if (existing.has(key)) changes.set(key, value)
    else if (value) added.set(key, value)
  }
  return [changes, added]
}
