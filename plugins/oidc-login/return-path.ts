import { type PublicUrl, publicBase } from '../shared/http/origin.ts'

const maxLength = 256

/** A path, with query and fragment, that no browser reads as the address of another host. */
const path = /^\/(?![/\\])[!-[\]-~]*$/

/**
 * The path at which a person continues after the login, relative to the public address. Undefined for anything that
 * could lead to another host, or out of the public address's own path.
 */
export const readReturnPath = (text: string | null, publicUrl: PublicUrl): string | undefined => {
  if (text === null || text.length > maxLength || !path.test(text)) return undefined
  const base = publicBase(publicUrl)
  const url = URL.parse(base + text)
  return url?.href.startsWith(`${base}/`) ? url.href.slice(base.length) : undefined
}
