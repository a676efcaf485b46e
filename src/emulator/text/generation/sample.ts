import { isJson, type Json } from '../../shared/reader.ts'

/** The depth from which recursive schemas must end. */
const maxDepth = 6

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'someone@emulated.example',
  hostname: 'emulated.example',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://emulated.example/',
  url: 'https://emulated.example/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/**
 * A value that satisfies a JSON Schema, the same in every run. Supported: type (also a list, also null), const, enum,
 * properties with required, items, prefixItems, minItems, anyOf, oneOf, allOf, local $ref, bounds and multiples of
 * numbers, lengths and formats of strings. Not supported: pattern. `hint`: the content of strings.
 */
export const sampleOf = (schema: unknown, hint: string, root: unknown = schema, depth = 0): unknown => {
  if (!isJson(schema)) return hint
  const into = (part: unknown, name = hint) => sampleOf(part, name, root, depth + 1)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (typeof schema.$ref === 'string') return into(referred(schema.$ref, root))
  const { anyOf, oneOf, allOf } = schema
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  // a recursive schema must end; usually its last choice is the one without recursion
  if (choices) return into(depth > maxDepth ? choices.at(-1) : choices[0])
  if (Array.isArray(allOf))
    return into(merged([{ ...schema, allOf: undefined }, ...allOf.map((part) => resolved(part, root))]))
  switch (typeOf(schema)) {
    case 'object':
      return objectFor(schema, into)
    case 'array':
      return arrayFor(schema, into, depth)
    case 'number':
    case 'integer':
      return numberFor(schema)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return textFor(schema, hint)
  }
}

const typeOf = ({ type, properties, items }: Json): unknown => {
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null'
  if (type !== undefined) return type
  if (properties !== undefined) return 'object'
  return items === undefined ? undefined : 'array'
}

const objectFor = ({ properties, required }: Json, into: (part: unknown, name: string) => unknown): object => {
  const parts = isJson(properties) ? properties : {}
  const names = Array.isArray(required) ? required.map(String) : []
  return Object.fromEntries(names.map((name) => [name, into(parts[name], name)]))
}

const arrayFor = (
  { items, prefixItems, minItems }: Json,
  into: (part: unknown) => unknown,
  depth: number,
): unknown[] => {
  const first = Array.isArray(prefixItems) ? prefixItems : []
  const minLength = typeof minItems === 'number' ? minItems : 0
  const length = Math.max(first.length, minLength, items !== undefined && depth <= maxDepth ? 1 : 0)
  return Array.from({ length }, (_, index) => into(first[index] ?? items))
}

const numberFor = ({ type, minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: Json): number => {
  const bound = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise)
  const step = bound(multipleOf, type === 'number' ? 0.5 : 1)
  const above = Math.max(bound(minimum, Number.NEGATIVE_INFINITY), bound(exclusiveMinimum, Number.NEGATIVE_INFINITY))
  const below = Math.min(bound(maximum, Number.POSITIVE_INFINITY), bound(exclusiveMaximum, Number.POSITIVE_INFINITY))
  if (above === Number.NEGATIVE_INFINITY) return below > 7 * step ? 7 * step : Math.floor(below / step - 1) * step
  const next = Math.ceil(above / step) * step
  return next > bound(exclusiveMinimum, Number.NEGATIVE_INFINITY) ? next : next + step
}

const textFor = ({ format, minLength, maxLength }: Json, hint: string): string => {
  const known = formats[String(format)]
  if (known !== undefined) return known
  if (minLength === undefined && maxLength === undefined) return hint
  const min = typeof minLength === 'number' ? minLength : 0
  const max = typeof maxLength === 'number' ? maxLength : Math.max(200, min)
  // validators count code points or UTF-16 units: use only characters for which both counts are equal
  const characters = [...hint].map((character) => (character.length > 1 ? '·' : character))
  return characters.join('').padEnd(min, '·').slice(0, max)
}

const referred = (ref: string, root: unknown): unknown => {
  const steps = ref.replace(/^#\/?/, '').split('/').filter(Boolean)
  return steps.reduce<unknown>((at, step) => (isJson(at) ? at[decodeURIComponent(step)] : undefined), root)
}

const resolved = (part: unknown, root: unknown): Json => {
  const whole = isJson(part) && typeof part.$ref === 'string' ? referred(part.$ref, root) : part
  return isJson(whole) ? whole : {}
}

const merged = (parts: readonly Json[]): Json => {
  const fields = (name: string) => parts.flatMap((part) => (part[name] === undefined ? [] : [part[name]]))
  const properties = Object.assign({}, ...fields('properties').filter(isJson))
  const required = [...new Set(fields('required').flat())]
  const all = Object.fromEntries(
    parts.flatMap((part) => Object.entries(part).filter(([, value]) => value !== undefined)),
  )
  return Object.keys(properties).length === 0 ? all : { ...all, properties, required }
}
