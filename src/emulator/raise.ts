/** Throws an error within an expression. */
export function raise(error: Error): never {
  throw error
}
