import { freeFunctionName } from '../../chat/function-names.ts'

/**
 * The names of the functions for the caller's tools. A name is the tool's own, unless chat completions do not allow it:
 * names of Anthropic's API have up to 128 characters, and agents make long ones for the tools of plugins.
 */
export class ToolNames {
  readonly #functionNames = new Map<string, string>()
  readonly #taken = new Set<string>()
  readonly #changed = new Map<string, string>()

  functionNameOf(name: string): string {
    const known = this.#functionNames.get(name)
    if (known !== undefined) return known
    const functionName = freeFunctionName({ kind: 'function', name }, this.#taken)
    this.#functionNames.set(name, functionName)
    this.#taken.add(functionName)
    if (functionName !== name) this.#changed.set(functionName, name)
    return functionName
  }

  /** The names of tools by the names of their functions, where they differ. */
  get changed(): ReadonlyMap<string, string> {
    return this.#changed
  }
}
