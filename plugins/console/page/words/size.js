import { numbers } from './format.js'

export const bytesInMegabyte = 1_000_000
const megabytes = numbers({ style: 'unit', unit: 'megabyte', maximumFractionDigits: 6 })
const exactBytes = numbers({ style: 'unit', unit: 'byte', unitDisplay: 'long' })

/**
 * A size of storage in MB, of which a byte is the sixth decimal, as `1,500 MB`.
 * @param {number} bytes
 */
export const formatMegabytes = (bytes) => megabytes().format(bytes / bytesInMegabyte)
/** As `1,500,000,000 bytes`. @param {number} bytes */
export const formatExactBytes = (bytes) => exactBytes().format(bytes)
