/** The value of a JSON text: numbers may be rounded. Undefined for a text that is no JSON. */
export const parsedJson = (text: string | Uint8Array): unknown => {
  try {
    return JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text))
  } catch {
    return undefined
  }
}

/** The same for an object. Undefined for any other value too. */
export const parsedObject = (text: string | Uint8Array): JsonObject | undefined => asJsonObject(parsedJson(text))

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
