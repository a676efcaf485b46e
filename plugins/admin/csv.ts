/**
 * One line of CSV (RFC 4180), without its end.
 *
 * A spreadsheet runs text that begins like a formula. Users choose names, labels and models, so such text gets an
 * apostrophe in front.
 */
export const csvLine = (values: readonly (string | number | null | undefined)[]): string =>
  values.map(csvField).join(',')

const csvField = (value: string | number | null | undefined): string => {
  if (typeof value !== 'string') return String(value ?? '')
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Billionths as a decimal number without an exponent. */
export const decimal = (billionths: number): string => {
  const digits = String(billionths).padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}
