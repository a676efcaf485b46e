/** A parsed JSON object. The types of its members are unknown: anybody may have sent it. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object: not null, and no array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value if it is a JSON object; undefined for any other value. */
export const asJsonObject = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined)

const none: JsonObject = {}

/** The members of a JSON object; none for any other value. */
export const membersOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : none)
