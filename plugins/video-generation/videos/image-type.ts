/** The media type of an image, by its first bytes (https://mimesniff.spec.whatwg.org). Undefined: it is none that the vendor reads. */
export const imageTypeOf = (bytes: Uint8Array): string | undefined => {
  const head = String.fromCharCode(...bytes.subarray(0, 12))
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp'
  return signatures.find(([signature]) => head.startsWith(signature))?.[1]
}

const signatures = [
  ['\xff\xd8\xff', 'image/jpeg'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['BM', 'image/bmp'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
] as const
