const byteOrderMark = [0xef, 0xbb, 0xbf]

/** The bytes of a file behind its byte order mark, with which some programs begin one. */
export const withoutByteOrderMark = (bytes: Uint8Array): Uint8Array =>
  byteOrderMark.every((byte, index) => bytes[index] === byte) ? bytes.subarray(byteOrderMark.length) : bytes
