import { raise } from '../../shared/raise.ts'
import type { Json, Reader } from '../../shared/reader.ts'
import { missingField } from '../openai-error.ts'
import type { Nesting } from './tools.ts'

/** The JSON Schema of the response format: undefined for plain text, empty for any JSON object. */
export const schemaIn = (format: Reader | undefined, nesting: Nesting): Json | undefined => {
  if (format === undefined) return undefined
  const types = ['text', 'json_object', 'json_schema'] as const
  const type = format.oneOf('type', types) ?? raise(missingField(format.path('type')))
  if (type !== 'json_schema') return type === 'text' ? undefined : {}
  const named =
    nesting === 'flat' ? format : (format.object('json_schema') ?? raise(missingField(format.path('json_schema'))))
  named.required('name')
  const schema = named.object('schema')?.raw
  if (schema === undefined && nesting === 'flat') throw missingField(named.path('schema'))
  return schema ?? {}
}
