/** The parts of an OpenAPI document that the page shows (https://spec.openapis.org/oas/v3.1.2.html). */
export interface Specification {
  readonly info: { readonly title: string; readonly description?: string; readonly [member: string]: unknown }
  /** By path, then by method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components?: object
  readonly [member: string]: unknown
}

/** One method of one path. */
export interface DocumentedOperation {
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: DocumentedContent
  readonly responses?: Readonly<Record<string, DocumentedResponse>>
}

/** The response with one status. */
export interface DocumentedResponse extends DocumentedContent {
  readonly description?: string
  readonly headers?: Readonly<Record<string, DocumentedHeader>>
}

export interface DocumentedHeader {
  readonly required?: boolean
  readonly schema?: Schema
}

/** A parameter in the path, the query or a header. */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

/** A request or response body, by media type. */
export interface DocumentedContent {
  readonly required?: boolean
  /** By media type. */
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

/** The parts of a JSON Schema that the page shows. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly description?: string
  readonly default?: unknown
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** A field of a body. Its name is its path: `Result.Items[].Id`. */
export interface DocumentedField {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly notes: string
}

/** The fields of an object, with nested fields, in document order. */
export const fieldsOf = (schema: Schema, prefix = ''): readonly DocumentedField[] =>
  Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const name = `${prefix}${key}`
    const required = schema.required?.includes(key) ?? false
    const { items } = inner
    return [
      { name, type: typeOf(inner), required, notes: notesOf(inner) },
      ...fieldsOf(inner, `${name}.`),
      ...(items ? fieldsOf(items, `${name}[].`) : []),
    ]
  })

/** Describes the type of a schema in a few words. */
export const typeOf = (schema: Schema = {}): string => {
  const { type, items } = schema
  const alternatives = schema.anyOf ?? schema.oneOf
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (alternatives) return [...new Set(alternatives.map(typeOf))].join(' or ')
  if (type === 'array' && items) return `array of ${typeOf(items)}`
  return typeof type === 'string' ? type : (type?.join(' or ') ?? 'any')
}

/** The description and constraints of a schema, separated by semicolons. */
export const notesOf = (schema: Schema = {}): string => {
  const { description, minLength, maxLength, minimum, maximum } = schema
  return [
    description,
    minLength !== undefined && minLength > 0 && `at least ${minLength} characters`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    minimum !== undefined && `from ${minimum}`,
    maximum !== undefined && `up to ${maximum}`,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ]
    .filter((note) => typeof note === 'string')
    .join('; ')
}
