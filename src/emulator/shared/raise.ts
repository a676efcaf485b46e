/** Throws an error within an expression. */
export const raise = (error: Error): never => {
  throw error
}
