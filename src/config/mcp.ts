import { oneOf } from './environment/parsers.ts'
import type { Read } from './environment/reader.ts'

/** The MCP server. */
export interface McpConfig {
  /** A video that costs more must be confirmed, in currency units. Null: none must. */
  readonly confirmAbove: number | null
}

/** Reads the variables of the MCP server. Undefined: there is none. */
export const readMcp = (read: Read): McpConfig | undefined => {
  const isOn = (read('MCP', 'must be on or off', oneOf(['on', 'off'])) ?? 'on') === 'on'
  const amount = read(
    'MCP_CONFIRM_ABOVE',
    'must be an amount of up to 9 digits before and after the point, or off',
    amountOf,
  )
  return isOn ? { confirmAbove: amount === 'off' ? null : (amount ?? 5) } : undefined
}

const amountOf = (text: string): number | 'off' | undefined => {
  if (text === 'off') return 'off'
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined
}
