/** Splits a request target into path and query, both as sent. The path of an empty target is `/`. */
export const splitTarget = (target: string): readonly [path: string, query: string] => {
  const [path = '', query = ''] = target.split(/\?(.*)/s)
  return [path || '/', query]
}

/**
 * The segments of the target's path. Like many web servers, it first decodes percent-encoding and then resolves `.`,
 * `..` and double slashes. So tests can show that an id with such characters does not reach another path.
 */
export const pathParts = (target: string): string[] => {
  const parts: string[] = []
  for (const part of unescaped(splitTarget(target)[0]).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts
}

/** Percent-decodes a path or a segment. Returns it unchanged when the encoding is invalid. */
export const unescaped = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
