/** What a field of a fault may be. */
export interface FieldType {
  /** for error messages: `a number from 0` */
  readonly name: string
  readonly isOptional?: boolean
  accepts(value: unknown): boolean
}

export const optional = (type: FieldType): FieldType => ({ ...type, isOptional: true })

/** One of these texts. */
export const oneOf = (...texts: readonly string[]): FieldType => ({
  name: `one of ${texts.join(', ')}`,
  accepts: (value) => texts.some((text) => text === value),
})

/** Either of two types. */
export const either = (one: FieldType, other: FieldType): FieldType => ({
  name: `${one.name} or ${other.name}`,
  accepts: (value) => one.accepts(value) || other.accepts(value),
})

export const text: FieldType = { name: 'a string', accepts: (value) => typeof value === 'string' }

export const flag: FieldType = { name: 'true or false', accepts: (value) => typeof value === 'boolean' }

/** Includes Infinity. */
export const amount: FieldType = {
  name: 'a number from 0',
  accepts: (value) => typeof value === 'number' && value >= 0,
}

export const fraction: FieldType = {
  name: 'a number from 0 to 1',
  accepts: (value) => amount.accepts(value) && Number(value) <= 1,
}

export const status: FieldType = {
  name: 'an HTTP status',
  accepts: (value) => Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 999,
}

export const object: FieldType = {
  name: 'an object',
  accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

export const callback: FieldType = { name: 'a function', accepts: (value) => typeof value === 'function' }

export const pattern: FieldType = { name: 'a pattern', accepts: (value) => value instanceof RegExp }
