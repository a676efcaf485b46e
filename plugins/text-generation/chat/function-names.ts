import { createHash } from 'node:crypto'

/** What distinguishes a tool from the others of a request. */
interface NamedTool {
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
}

export const toolKey = ({ kind, name, namespace }: NamedTool): string => JSON.stringify([kind, name, namespace])

/** Maximum length of a function name in chat completions. */
const maxLength = 64

/**
 * A name for the tool's function that chat completions allow, and that is not taken: the name of the tool, with its
 * namespace `namespace__name`. One that is too long or taken ends with a hash of the tool instead, so that the names of
 * two requests with the same tools are equal.
 */
export const freeFunctionName = (tool: NamedTool, taken: { has(name: string): boolean }): string => {
  const { namespace, name } = tool
  const wanted = (namespace === undefined ? name : `${namespace}__${name}`).replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  if (wanted !== '' && wanted.length <= maxLength && !taken.has(wanted)) return wanted
  // The name may be very long, so it is read once.
  const digest = createHash('sha256').update(toolKey(tool)).digest('hex')
  for (let nth = 0; ; nth++) {
    const hash = createHash('sha256').update(`${nth} ${digest}`).digest('hex').slice(0, 8)
    const hashed = `${wanted.slice(0, maxLength - 9)}_${hash}`
    if (!taken.has(hashed)) return hashed
  }
}
