/** A frame as a client sends it (RFC 6455 section 5.2). @param first its first byte: flags and opcode */
export const clientFrame = (first: number, payload: Uint8Array): Buffer => {
  const { length } = payload
  const header = Buffer.alloc(length < 126 ? 2 : length < 2 ** 16 ? 4 : 10)
  header[0] = first
  header[1] = 0x80 | (length < 126 ? length : length < 2 ** 16 ? 126 : 127)
  if (header.length === 4) header.writeUInt16BE(length, 2)
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2)
  const mask = [0x12, 0x9a, 0x00, 0xff]
  return Buffer.concat([header, Buffer.from(mask), payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))])
}
