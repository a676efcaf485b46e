/**
 * The parts of a target's path. Escapes are resolved before the path is cut up, and then `.`, `..` and doubled slashes, as a web
 * server in front of an upstream does; so an id that was not kept from being a path reaches what it names.
 */
export function pathParts(target: string): string[] {
  const parts: string[] = []
  for (const part of unescaped(target.split('?')[0] ?? '').split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts
}

/** A path or a part of one without its escapes; as it is where they make no sense. */
export function unescaped(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
