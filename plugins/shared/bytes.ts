/**
 * Collects a body of at most `maxBytes`; undefined when there is more, whatever its headers say. What is left unread is cancelled.
 */
export const collect = async (
  body: Request | Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const announced = body.headers.get('content-length')
  const coded = body.headers.has('content-encoding') || body.headers.has('transfer-encoding')
  if (announced !== null && !coded) {
    if (Number(announced) <= maxBytes) {
      const bytes = new Uint8Array(await body.arrayBuffer())
      return bytes.length <= maxBytes ? bytes : undefined
    }
    await body.body?.cancel()
    return undefined
  }
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop cancels the stream.
  for await (const chunk of body.body ?? []) {
    length += chunk.length
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
